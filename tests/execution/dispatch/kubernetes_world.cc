// Starting and stopping by kubernetes_cluster.sh.
#include "tests/execution/dispatch/kubernetes_world.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "harness/records/manifest/environment.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

ProcessResult RunFor(std::vector<std::string> argv, std::chrono::seconds limit) {
  return RunProcess(
      {.argv = std::move(argv), .environment = ProcessEnvironment(), .group_only = true},
      {.timeout = limit});
}

}  // namespace

KubernetesWorld::KubernetesWorld() {
  const char* programs = std::getenv("RHARNESS_KUBERNETES");
  if (programs == nullptr) {
    problem_ = "RHARNESS_KUBERNETES names no folder with its programs (./dev test-kubernetes)";
  } else if (::geteuid() != 0) {
    problem_ = "needs root";
  } else if (!fs::exists(fs::path(programs) / "bin/kubelet")) {
    problem_ = fmt::format("{}/bin/kubelet is not there", programs);
  }
  if (!problem_.empty()) return;
  auto folder = ScopedTempDir::Make("rharness-kubernetes-");
  if (!folder.ok()) {
    problem_ = folder.error().ToString();
    return;
  }
  folder_ = std::make_unique<ScopedTempDir>(std::move(*folder));
  reaper_ = std::make_unique<Reaper>(folder_->path());
  problem_ = reaper_->problem();
  if (!problem_.empty()) return;
  const ProcessResult up =
      RunFor({RHARNESS_SOURCE_DIR "/tests/execution/dispatch/kubernetes_cluster.sh", "up", programs,
              folder_->path().string(), "n1", "n2"},
             std::chrono::seconds(600));
  if (!up.outcome.Succeeded()) {
    problem_ = fmt::format("{} {}", up.outcome.ToString(), up.stderr_text);
    return;
  }
  ::setenv("KUBECONFIG", (folder_->path() / "kubeconfig").c_str(), 1);
}

KubernetesWorld::~KubernetesWorld() {
  if (folder_) Do("down");
}

void KubernetesWorld::Do(const std::string& verb, const std::string& name) const {
  std::vector<std::string> argv = {RHARNESS_SOURCE_DIR
                                   "/tests/execution/dispatch/kubernetes_cluster.sh",
                                   verb, folder_->path().string()};
  if (!name.empty()) argv.push_back(name);
  RunFor(std::move(argv), std::chrono::seconds(60));
}

std::string KubernetesWorld::Run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "kubectl");
  return RunFor(std::move(arguments), std::chrono::seconds(60)).stdout_text;
}

std::string KubernetesWorld::Template(const fs::path& shared, const std::string& more,
                                      const std::string& image,
                                      const std::vector<std::string>& also) {
  std::string volumes;
  std::string mounts;
  // The image has busybox alone: this machine's /usr, /lib and the like come as they are.
  int count = 0;
  std::vector<std::string> paths = {"/usr", "/lib", "/lib64", "/etc", RHARNESS_BIN_DIR, shared};
  paths.insert(paths.end(), also.begin(), also.end());
  for (const std::string& path : paths) {
    const std::string comma = count == 0 ? "" : ", ";
    volumes +=
        fmt::format(R"({}{{"name": "v{}", "hostPath": {{"path": "{}"}}}})", comma, count, path);
    mounts += fmt::format(R"({}{{"name": "v{}", "mountPath": "{}"}})", comma, count, path);
    ++count;
  }
  return fmt::format(
      R"({{"apiVersion": "v1", "kind": "PodTemplate", "metadata": {{"name": "test"}},
          "template": {{"spec": {{"hostNetwork": true, "volumes": [{}], {}
          "containers": [{{"name": "rerun", "image": "{}", "imagePullPolicy": "{}",
          "env": [{{"name": "PATH", "value": "{}/bin:{}:/usr/bin:/bin"}}],
          "volumeMounts": [{}]}}]}}}}}})",
      volumes, more.empty() ? "" : more + ",", image,
      image == "localhost/base:1" ? "Never" : "Always", shared.string(), RHARNESS_BIN_DIR, mounts);
}

}  // namespace rharness
