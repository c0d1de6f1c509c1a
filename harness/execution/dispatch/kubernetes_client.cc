// Calling kubectl.
#include "harness/execution/dispatch/kubernetes_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/files.h"
#include "harness/records/manifest/environment.h"

namespace rharness {
namespace {

constexpr auto kKubectlLimit = std::chrono::seconds(60);
constexpr std::uint64_t kMostKubectlOutput = std::uint64_t{256} << 20;
// Of one request; a call may make several.
constexpr std::string_view kRequestLimit = "--request-timeout=20s";

std::map<std::string, std::string> KubectlEnvironment() {
  std::map<std::string, std::string> environment = ProcessEnvironment();
  environment["LC_ALL"] = "C";
  return environment;
}

// Its message without warnings, in one line.
std::string SaidIn(std::string_view text) {
  constexpr std::size_t kLongest = 1000;
  std::string said;
  while (!text.empty() && said.size() <= kLongest) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == line.npos ? text.size() : end + 1);
    // Client libraries log in lines such as "E1123 02:00:00.000000  12 memcache.go:265] ...".
    const bool log = line.size() > 5 && (line[0] == 'E' || line[0] == 'W' || line[0] == 'I') &&
                     line[1] >= '0' && line[1] <= '9' && line.find(".go:") != line.npos;
    // For a hundred Jobs it repeats the same line a hundred times.
    const bool again = said.find(line) != std::string::npos;
    if (line.empty() || log || again || line.starts_with("Warning:")) continue;
    if (!said.empty()) said += "; ";
    said += line;
  }
  if (said.size() > kLongest) said = said.substr(0, kLongest) + "...";
  return TerminalSafe(said);
}

}  // namespace

std::string NameOf(const KubernetesCluster& cluster) {
  return fmt::format("{} (uid {})", cluster.server.empty() ? "its own" : cluster.server,
                     cluster.uid.empty() ? "not known" : cluster.uid);
}

bool IsSameCluster(const KubernetesCluster& one, const KubernetesCluster& other) {
  if (!one.uid.empty() && !other.uid.empty()) return one.uid == other.uid;
  return one.server == other.server;
}

KubernetesClient::KubernetesClient(std::vector<std::string> options, Run run)
    : options_(std::move(options)), run_(std::move(run)) {
  if (!run_) {
    run_ = [](const ProcessSpec& spec) {
      return RunProcess(
          spec,
          {.timeout = kKubectlLimit, .output_bytes = kMostKubectlOutput, .close_when_full = true});
    };
  }
}

Result<std::string> KubernetesClient::Call(std::vector<std::string> arguments) {
  const std::string where = "kubectl " + arguments[0];
  std::vector<std::string> argv = {"kubectl"};
  argv.insert(argv.end(), options_.begin(), options_.end());
  argv.emplace_back(kRequestLimit);
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  ++calls_;
  ProcessResult result =
      run_({.argv = std::move(argv), .environment = KubectlEnvironment(), .group_only = true});
  const Outcome& outcome = result.outcome;
  if (result.stdout_bytes > kMostKubectlOutput) {
    return ProcessError(fmt::format("printed more than {} MiB", kMostKubectlOutput >> 20), where);
  }
  if (outcome.Succeeded()) return std::move(result.stdout_text);
  if (outcome.kind == OutcomeKind::kNotStarted) {
    return NotFound("cannot be started: " + outcome.detail + "; expected kubectl on PATH",
                    "kubectl");
  }
  if (outcome.kind == OutcomeKind::kTimedOut) {
    return TimeoutError("did not answer: " + outcome.ToString(), where);
  }
  if (IsAlreadyThere(result.stderr_text)) return std::string();
  std::string said = SaidIn(result.stderr_text);
  if (said.empty()) said = outcome.ToString();
  if (outcome.kind != OutcomeKind::kExited || IsServerTrouble(result.stderr_text)) {
    return ProcessError(said, where);
  }
  return InvalidInput(said, where);
}

Result<Json> KubernetesClient::CallForJson(std::vector<std::string> arguments) {
  const std::string where = "kubectl " + arguments[0];
  arguments.insert(arguments.end(), {"-o", "json"});
  ASSIGN_OR_RETURN(const std::string text, Call(std::move(arguments)));
  auto json = ParseJson(text, where);
  // It is the server's answer that cannot be read: nothing was refused.
  if (!json.ok()) return ProcessError(json.error().message, json.error().where);
  return json;
}

Result<KubernetesCluster> KubernetesClient::Identify() {
  KubernetesCluster cluster;
  // In a pod there is none: kubectl uses its service account.
  const auto config = CallForJson({"config", "view", "--minify"});
  if (!config.ok() && config.error().code == ErrorCode::kNotFound) return config.error();
  if (config.ok()) {
    cluster.context = TextAt(*config, {"current-context"});
    const Json* clusters = FindAt(*config, {"clusters"});
    if (clusters != nullptr && clusters->IsArray() && !clusters->AsArray().empty()) {
      cluster.server = TextAt(clusters->AsArray()[0], {"cluster", "server"});
    }
  }
  const bool given = std::ranges::any_of(
      options_, [](const std::string& one) { return one.starts_with("--context="); });
  if (!given && !cluster.context.empty()) options_.push_back("--context=" + cluster.context);
  ASSIGN_OR_RETURN(const Json version, CallForJson({"version"}));
  ASSIGN_OR_RETURN(cluster.version, ParseKubernetesVersion(version));
  const auto system = CallForJson({"get", "namespace", "kube-system"});
  if (system.ok()) {
    cluster.uid = TextAt(*system, {"metadata", "uid"});
  } else if (system.error().code != ErrorCode::kInvalidInput) {
    return system.error();
  }
  return cluster;
}

Result<KubernetesObjects> KubernetesClient::Get(const std::string& kinds,
                                                const std::string& labels) {
  std::vector<std::string> arguments = {"get", kinds};
  if (!labels.empty()) arguments.push_back("--selector=" + labels);
  ASSIGN_OR_RETURN(const Json json, CallForJson(std::move(arguments)));
  KubernetesObjects objects;
  RETURN_IF_ERROR(AddKubernetesObjects(json, "kubectl get " + kinds, &objects));
  return objects;
}

Status KubernetesClient::Create(const std::filesystem::path& file, bool dry_run) {
  std::vector<std::string> arguments = {"create", "--filename=" + file.string(), "-o", "name"};
  if (dry_run) arguments.emplace_back("--dry-run=server");
  const auto created = Call(std::move(arguments));
  return created.ok() ? Status() : created.error();
}

Status KubernetesClient::DeleteAll(const std::string& kind, const std::string& labels) {
  return Delete({kind, "--selector=" + labels});
}

Result<std::string> KubernetesClient::Log(const std::string& pod) {
  return Call({"logs", pod, fmt::format("--container={}", kContainerName),
               fmt::format("--limit-bytes={}", std::uint64_t{16} << 20)});
}

Status KubernetesClient::DeleteNamed(const std::string& kind,
                                     const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 500;
  for (std::size_t at = 0; at < names.size(); at += kMost) {
    std::vector<std::string> what = {kind};
    for (std::size_t i = at; i < std::min(names.size(), at + kMost); ++i) what.push_back(names[i]);
    RETURN_IF_ERROR(Delete(std::move(what)));
  }
  return {};
}

Status KubernetesClient::Delete(std::vector<std::string> what) {
  std::vector<std::string> arguments = {"delete"};
  arguments.insert(arguments.end(), what.begin(), what.end());
  arguments.insert(arguments.end(), {"--wait=false", "--ignore-not-found", "-o", "name"});
  const auto deleted = Call(std::move(arguments));
  return deleted.ok() ? Status() : deleted.error();
}

Result<Json> KubernetesClient::Read(const std::filesystem::path& file) {
  return CallForJson({"create", "--dry-run=client", "--filename=" + file.string()});
}

}  // namespace rharness
