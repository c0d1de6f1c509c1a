// Noting a cluster, and knowing it again.
#include "harness/execution/dispatch/kubernetes_cluster.h"

#include <fmt/format.h>

#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/base/log.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

Result<KubernetesCluster> ReadCluster(const fs::path& file) {
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(file, 1 << 16));
  KubernetesCluster cluster;
  JsonReader reader(json, file.string());
  reader.ReadSchema("rharness.cluster", 1);
  reader.Read("uid", &cluster.uid);
  reader.Read("server", &cluster.server);
  RETURN_IF_ERROR(reader.status());
  return cluster;
}

bool IsWorthAnotherTry(const Error& error) {
  return error.code == ErrorCode::kProcess || error.code == ErrorCode::kTimeout;
}

Result<KubernetesCluster> IdentifyPatiently(KubernetesClient* client, Clock* clock) {
  constexpr auto kPatience = std::chrono::seconds(30);
  const auto until = clock->Monotonic() + kPatience;
  for (;;) {
    auto cluster = client->Identify();
    if (cluster.ok() || !IsWorthAnotherTry(cluster.error())) return cluster;
    if (clock->Monotonic() >= until) return cluster;
    clock->SleepFor(std::chrono::seconds(2));
  }
}

}  // namespace

Result<KubernetesCluster> FindCluster(const fs::path& folder, KubernetesClient* client,
                                      Clock* clock) {
  ASSIGN_OR_RETURN(KubernetesCluster cluster, IdentifyPatiently(client, clock));
  const fs::path file = folder / "dispatch" / "cluster.json";
  const auto noted = ReadCluster(file);
  if (noted.ok()) {
    if (IsSameCluster(*noted, cluster)) return cluster;
    return InvalidInput(fmt::format("the cluster that answers is {}, and this drill was started on "
                                    "{}; choose it by --kubectl=--context=NAME",
                                    NameOf(cluster), NameOf(*noted)),
                        "--dispatch kubernetes");
  }
  if (noted.error().code != ErrorCode::kNotFound) return noted.error();
  RETURN_IF_ERROR(WriteJsonFile(file, Json::MakeObject({{"schema", "rharness.cluster/v1"},
                                                        {"uid", cluster.uid},
                                                        {"server", cluster.server}})));
  return cluster;
}

Result<PodTemplate> LoadPodTemplate(const fs::path& file, const fs::path& folder,
                                    KubernetesClient* client) {
  const std::string where = "--pod-template " + file.string();
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return InvalidInput("is no file", where);
  const auto json = client->Read(file);
  if (!json.ok()) {
    return Error{json.error().code, "is refused: " + json.error().ToString(), where};
  }
  ASSIGN_OR_RETURN(PodTemplate pod, ParsePodTemplate(*json, where));
  if (!folder.empty()) RETURN_IF_ERROR(RequireMounted(pod, where, {folder}));
  if (pod.Queue().empty()) return pod;
  const auto workloads = client->Get("workloads.kueue.x-k8s.io", "");
  if (!workloads.ok() && workloads.error().code == ErrorCode::kInvalidInput) {
    return InvalidInput(fmt::format("names the queue {}, and Kueue, which would start its Jobs, "
                                    "cannot be asked: {}",
                                    pod.Queue(), workloads.error().message),
                        where);
  }
  return pod;
}

}  // namespace rharness
