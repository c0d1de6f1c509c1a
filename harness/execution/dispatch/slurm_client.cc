// Calling sbatch, squeue, sacct, scancel and scontrol.
#include "harness/execution/dispatch/slurm_client.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "harness/base/files.h"
#include "harness/records/manifest/environment.h"

namespace rharness {
namespace {

constexpr auto kCallLimit = std::chrono::seconds(60);
constexpr std::uint64_t kMostOutput = std::uint64_t{64} << 20;
constexpr std::size_t kLongestSaid = 1000;  // for people

// The variables for Slurm's programs, and for a container engine on the node. A submission passes
// all of them to the task, so there is nothing else of this process: no variable of Slurm, since
// these change its programs, except those with its location.
std::map<std::string, std::string> ClientEnvironment() {
  std::map<std::string, std::string> environment = PickEnvironment({"PATH",
                                                                    "HOME",
                                                                    "USER",
                                                                    "LOGNAME",
                                                                    "SHELL",
                                                                    "TZ",
                                                                    "LD_LIBRARY_PATH",
                                                                    "KRB5CCNAME",
                                                                    "SLURM_CONF",
                                                                    "SLURM_JWT",
                                                                    "XDG_CONFIG_HOME",
                                                                    "XDG_DATA_HOME",
                                                                    "CONTAINERS_CONF",
                                                                    "CONTAINERS_STORAGE_CONF",
                                                                    "CONTAINERS_REGISTRIES_CONF",
                                                                    "REGISTRY_AUTH_FILE",
                                                                    "DOCKER_CONFIG",
                                                                    "SSL_CERT_FILE",
                                                                    "SSL_CERT_DIR",
                                                                    "HTTP_PROXY",
                                                                    "HTTPS_PROXY",
                                                                    "NO_PROXY",
                                                                    "http_proxy",
                                                                    "https_proxy",
                                                                    "no_proxy"});
  environment["SLURM_TIME_FORMAT"] = "standard";
  environment["LC_ALL"] = "C";
  return environment;
}

std::string LastLineOf(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  const auto at = text.rfind('\n');
  std::string_view line = at == std::string_view::npos ? text : text.substr(at + 1);
  // "sbatch: error: ..."
  constexpr std::string_view kError = ": error: ";
  if (const auto mark = line.find(kError); mark != std::string_view::npos) {
    line.remove_prefix(mark + kError.size());
  }
  return TerminalSafe(line.substr(0, kLongestSaid)) + (line.size() > kLongestSaid ? "..." : "");
}

// The first line that begins with a job's number, as "12", "12_3" or "12_[0-3]".
std::optional<std::uint64_t> JobIn(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string_view digits = line.substr(0, line.find('_'));
    std::uint64_t job = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), job);
    if (error == std::errc() && end == digits.data() + digits.size() && job > 0) return job;
  }
  return std::nullopt;
}

}  // namespace

SlurmClient::SlurmClient(Run run) : run_(std::move(run)) {
  if (!run_) {
    run_ = [](const ProcessSpec& spec) {
      return RunProcess(
          spec, {.timeout = kCallLimit, .output_bytes = kMostOutput, .close_when_full = true});
    };
  }
}

Result<std::string> SlurmClient::Call(std::vector<std::string> argv) {
  const std::string program = argv[0];
  ++calls_;
  ProcessResult result = run_({.argv = std::move(argv),
                               .environment = ClientEnvironment(),
                               .group_only = true,
                               .marked = false});
  const Outcome& outcome = result.outcome;
  if (result.stdout_bytes > kMostOutput) {
    return ProcessError(fmt::format("printed more than {} MiB", kMostOutput >> 20), program);
  }
  if (outcome.Succeeded()) return std::move(result.stdout_text);
  if (outcome.kind == OutcomeKind::kNotStarted) {
    return NotFound("cannot be started: " + outcome.detail + "; expected Slurm's programs on PATH",
                    program);
  }
  if (outcome.kind == OutcomeKind::kTimedOut) {
    return TimeoutError("did not answer: " + outcome.ToString(), program);
  }
  const std::string said =
      result.stderr_text.empty() ? outcome.ToString() : LastLineOf(result.stderr_text);
  // A refusal has words.
  if (outcome.kind != OutcomeKind::kExited || result.stderr_text.empty() ||
      IsServiceTrouble(result.stderr_text)) {
    return ProcessError(said, program);
  }
  return InvalidInput(said, program);
}

Result<std::uint64_t> SlurmClient::Submit(const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {"sbatch", "--parsable"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  ASSIGN_OR_RETURN(const std::string text, Call(std::move(argv)));
  auto job = ParseSbatch(text);
  // It does not say that it failed: an array may be there all the same.
  if (!job.ok()) return ProcessError(job.error().message, job.error().where);
  return job;
}

Result<SlurmTasks> SlurmClient::Queue(const std::vector<std::uint64_t>& jobs) {
  const auto text = Call({"squeue", "--noheader", "--array", "--states=all",
                          fmt::format("--format={}", kSqueueFormat),
                          fmt::format("--jobs={}", fmt::join(jobs, ","))});
  // Slurm forgets jobs some minutes after their end, and then refuses a list with only such ones.
  if (!text.ok() && text.error().code == ErrorCode::kInvalidInput &&
      text.error().message.find("Invalid job id") != std::string::npos) {
    return SlurmTasks();
  }
  if (!text.ok()) return text.error();
  return ParseSqueue(*text);
}

Result<SlurmTasks> SlurmClient::Accounting(const std::vector<std::uint64_t>& jobs) {
  ASSIGN_OR_RETURN(const std::string text,
                   Call({"sacct", "--noheader", "--parsable2", "--allocations", "--duplicates",
                         fmt::format("--format={}", kSacctFormat),
                         fmt::format("--jobs={}", fmt::join(jobs, ","))}));
  return ParseSacct(text);
}

Result<std::optional<std::uint64_t>> SlurmClient::FindByName(const std::string& name) {
  ASSIGN_OR_RETURN(const std::string queue,
                   Call({"squeue", "--noheader", "--states=all", "--format=%F", "--name=" + name}));
  if (const auto job = JobIn(queue)) return job;
  if (queue.find_first_not_of(" \n") != std::string::npos) {
    return ProcessError(fmt::format("expected the number of a job, or nothing; found \"{}\"",
                                    TerminalSafe(queue.substr(0, 200))),
                        "squeue");
  }
  const auto accounting = Call({"sacct", "--noheader", "--parsable2", "--allocations",
                                "--format=JobID", "--name=" + name, "--starttime=now-30days"});
  // Many sites have none; then the queue's word is all there is.
  return accounting.ok() ? JobIn(*accounting) : std::nullopt;
}

Result<std::vector<SlurmNode>> SlurmClient::Nodes(const NodeChoice& choice) {
  const auto list = [&](const std::string& nodes) -> Result<std::vector<SlurmNode>> {
    std::vector<std::string> argv = {"sinfo", "--noheader", "--Node",
                                     fmt::format("--format={}", kSinfoFormat)};
    if (!choice.partition.empty()) argv.push_back("--partition=" + choice.partition);
    if (!nodes.empty()) argv.push_back("--nodes=" + nodes);
    const auto text = Call(std::move(argv));
    auto found = text.ok() ? ParseSinfo(*text, choice.partition.empty())
                           : Result<std::vector<SlurmNode>>(text.error());
    // It prints nothing for missing nodes: a refusal is not the caller's fault.
    if (!found.ok() && found.error().code == ErrorCode::kInvalidInput) {
      return ProcessError(found.error().message, found.error().where);
    }
    return found;
  };
  ASSIGN_OR_RETURN(std::vector<SlurmNode> nodes, list(choice.nodelist));
  std::set<std::string> excluded;
  if (!choice.exclude.empty()) {
    ASSIGN_OR_RETURN(const auto others, list(choice.exclude));
    for (const SlurmNode& node : others) excluded.insert(node.name);
  }
  std::vector<SlurmNode> meant;
  for (SlurmNode& node : nodes) {
    if (excluded.contains(node.name)) continue;
    const auto has = choice.constraint.empty() ? Result<bool>(true)
                                               : HasFeatures(choice.constraint, node.features);
    if (!has.ok()) return has.error();
    if (*has) meant.push_back(std::move(node));
  }
  return meant;
}

Status SlurmClient::Cancel(const std::vector<std::string>& tasks) {
  std::vector<std::string> argv = {"scancel", "--quiet"};
  argv.insert(argv.end(), tasks.begin(), tasks.end());
  const auto text = Call(std::move(argv));
  if (!text.ok()) return text.error();
  return {};
}

int SlurmClient::MaxArray() {
  if (!max_array_) {
    const auto config = Call({"scontrol", "show", "config"});
    max_array_ = MaxArraySize(config.ok() ? *config : "");
  }
  return *max_array_;
}

}  // namespace rharness
