// Sweeping a cluster with probes: what is asked of each node, and what its answer is worth.
#include "harness/cli/probe_distribute.h"

#include <fmt/format.h>

#include <map>
#include <system_error>
#include <utility>

#include "compare/fingerprints/fingerprint.h"
#include "harness/base/files.h"
#include "harness/base/folder_lock.h"
#include "harness/base/log.h"
#include "harness/base/progress.h"
#include "harness/base/subprocess.h"
#include "harness/cli/interrupts.h"
#include "harness/cli/probe_program.h"
#include "harness/cli/progress_line.h"
#include "harness/cli/verb.h"
#include "harness/execution/dispatch/node_sweep.h"
#include "harness/execution/dispatch/slurm_batch.h"
#include "harness/execution/dispatch/task_folder.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Below --out; no name in it ends as those of fingerprints do.
constexpr char kSweepFolder[] = ".distribute";
constexpr char kFingerprint[] = "fingerprint";

struct NodeAnswer {
  std::string node;
  std::string file;  // empty: it gave none
  std::string why;
  bool failing = false;  // a probe of it failed
};

std::string OutcomeOf(const NodeEnd& end) {
  if (!end.exit_code) return end.why;
  return fmt::format("the program ended with {}{}", *end.exit_code,
                     end.why.empty() ? "" : ": " + end.why);
}

// What a node left is believed once it is seen to be a fingerprint.
Result<NodeAnswer> TakeAnswer(const NodeEnd& end, const fs::path& out) {
  NodeAnswer answer{.node = end.node, .file = {}, .why = OutcomeOf(end)};
  const bool ran = end.exit_code == kExitOk || end.exit_code == kExitInfrastructure;
  std::error_code error;
  const fs::path left = end.folder / kFingerprint;
  if (!ran || !fs::exists(left, error)) return answer;
  const auto json = ReadJsonFile(left, kMostFingerprintBytes);
  const auto fingerprint =
      json.ok() ? ParseFingerprint(*json, left.string()) : Result<Fingerprint>(json.error());
  if (!fingerprint.ok()) {
    answer.why = "its output is not a fingerprint: " + fingerprint.error().ToString();
    return answer;
  }
  const fs::path file = out / (end.node + ".json");
  RETURN_IF_ERROR(WriteJsonFile(file, *json));
  answer.file = file.string();
  answer.failing = end.exit_code != kExitOk;
  if (!answer.failing) answer.why.clear();
  return answer;
}

// A line a reason: of a fleet, thousands of nodes may have one.
void TellMissing(const std::map<std::string, std::vector<std::string>>& nodes_by_reason) {
  constexpr std::size_t kMostLines = 100;
  std::size_t lines = 0;
  std::size_t untold = 0;
  for (const auto& [why, nodes] : nodes_by_reason) {
    if (++lines > kMostLines) {
      untold += nodes.size();
      continue;
    }
    const std::string count = nodes.size() == 1 ? "" : fmt::format(" ({} nodes)", nodes.size());
    LogError(fmt::format("{}{}: no fingerprint: {}", FoldNames(nodes), count, why));
  }
  if (untold == 0) return;
  LogError(fmt::format("{} further nodes: no fingerprint, for {} further reasons; --json has them",
                       untold, lines - kMostLines));
}

class ProbeSweep {
 public:
  ProbeSweep(fs::path out, NodeSweep* sweep) : out_(std::move(out)), sweep_(*sweep) {}

  Status Run() {
    const auto began = SystemClock().Monotonic();
    ProgressLine line(VerbProgress());
    while (!sweep_.Done()) {
      if (Interrupted() && !std::exchange(cancelled_, true)) sweep_.Cancel();
      Progress progress = CountProgress("nodes done", answers_.size(), sweep_.nodes().size(),
                                        SystemClock().Monotonic() - began, "");
      progress.stopping = cancelled_;
      line.Show(progress);
      ASSIGN_OR_RETURN(const auto ends, sweep_.Wait(std::chrono::milliseconds(200)));
      for (const NodeEnd& end : ends) {
        ASSIGN_OR_RETURN(NodeAnswer answer, TakeAnswer(end, out_));
        answers_[end.node] = std::move(answer);
      }
    }
    return {};
  }

  int Report(bool as_json) const {
    std::size_t given = 0;
    bool fine = true;
    std::map<std::string, std::vector<std::string>> missing;  // by the reason
    for (const auto& [node, answer] : answers_) {
      given += answer.file.empty() ? 0 : 1;
      fine = fine && answer.why.empty();
      if (answer.file.empty()) missing[answer.why].push_back(node);
      if (answer.failing) LogWarning(fmt::format("{}: {}", node, answer.why));
    }
    TellMissing(missing);
    const int code = fine ? kExitOk : kExitInfrastructure;
    if (as_json) {
      const int printed = PrintJson(AsJson());
      return printed == kExitOk ? code : printed;
    }
    if (Globals().quiet) return code;
    const int printed = Print(fmt::format("{} of {} nodes gave a fingerprint; written to {}\n",
                                          given, answers_.size(), TerminalSafe(out_.string())));
    return printed == kExitOk ? code : printed;
  }

 private:
  Json AsJson() const {
    Json nodes = Json::MakeArray();
    for (const auto& [node, answer] : answers_) {
      Json one = Json::MakeObject({{"node", node}});
      if (!answer.file.empty()) one.Set("file", answer.file);
      if (!answer.why.empty()) one.Set("reason", answer.why);
      nodes.Append(std::move(one));
    }
    return Json::MakeObject({{"schema", "rharness.distribution/v1"}, {"nodes", std::move(nodes)}});
  }

  const fs::path out_;
  NodeSweep& sweep_;
  std::map<std::string, NodeAnswer> answers_;
  bool cancelled_ = false;
};

// A fingerprint of another day beside those of today would be compared with them.
Status RefuseOld(const fs::path& out, const std::vector<std::string>& nodes) {
  for (const std::string& node : nodes) {
    std::error_code error;
    if (!fs::exists(out / (node + ".json"), error)) continue;
    return InvalidInput(
        "is there already; expected a folder without the fingerprints of these nodes (for those "
        "that are missing in it: --sbatch=--nodelist=...)",
        (out / (node + ".json")).string());
  }
  return {};
}

// What a process that was killed left in the queue would write into the same folder.
Status ClearLeftovers(const fs::path& folder, SlurmClient* client) {
  std::error_code error;
  if (!fs::exists(folder, error)) return {};
  LogInfo("takes back what an earlier process handed to Slurm");
  RETURN_IF_ERROR(CancelSweep(folder, client));
  return RemoveTree(folder);
}

Result<int> Distribute(const DistributeOptions& options, const std::vector<std::string>& arguments,
                       const std::string& out, double timeout_seconds) {
  for (const std::string& option : options.sbatch) RETURN_IF_ERROR(CheckSbatchOption(option));
  ASSIGN_OR_RETURN(NodeChoice choice, ChooseNodes(options.sbatch));
  std::error_code error;
  const fs::path folder = fs::absolute(out, error).lexically_normal();
  if (error) return IoErrorFromErrno("cannot find the current folder", error.value());
  const bool was_there = fs::exists(folder, error);
  ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(folder));
  SlurmClient client;
  RETURN_IF_ERROR(ClearLeftovers(folder / kSweepFolder, &client));
  ASSIGN_OR_RETURN(const fs::path program, ThisProgram());
  SweepOptions sweep_options{
      .folder = folder / kSweepFolder,
      .id = JobSession(),
      .command = {program.string(), "--quiet", "probe", "run", "--out", kFingerprint},
      .timeout = std::chrono::seconds(static_cast<std::int64_t>(timeout_seconds)),
      .wait = std::chrono::seconds(static_cast<std::int64_t>(options.wait_seconds))};
  sweep_options.command.insert(sweep_options.command.end(), arguments.begin(), arguments.end());
  NodeSweep sweep(std::move(sweep_options), std::move(choice), &client, &SystemClock());
  if (const Status begun = sweep.Begin(); !begun.ok()) {
    if (!was_there) (void)RemoveTree(folder);
    return begun.error();
  }
  RETURN_IF_ERROR(RefuseOld(folder, sweep.nodes()));
  CountInterrupts();
  ProbeSweep probes(folder, &sweep);
  const Status ran = probes.Run();
  if (!ran.ok()) sweep.Cancel();
  RETURN_IF_ERROR(ran);
  RETURN_IF_ERROR(RemoveTree(folder / kSweepFolder));
  return probes.Report(options.json);
}

}  // namespace

void AddDistributeOptions(Command* run, DistributeOptions* options) {
  run->Heading("On every node of a cluster");
  run->Add("--distribute", &options->asked,
           "Once on every node of a partition: --out is then a folder, which the nodes see, and "
           "gets NODE.json for each, as `rharness gate fleet` takes them");
  run->Add("--dispatch", &options->dispatch, "Who reaches the nodes; with --distribute")
      .Choices({"local", "slurm"})
      .ShowDefault();
  run->Add("--sbatch", &options->sbatch,
           "A further option of sbatch, such as --sbatch=--partition=gpu; --partition, --nodelist, "
           "--exclude and --constraint say which nodes; repeatable")
      .OneEach();
  run->Add("--wait", &options->wait_seconds, "How long busy nodes may take to come free")
      .Duration(TimeUnit::kSeconds)
      .Between(1.0, 1e7)
      .ShowDefault();
  run->Add("--json", &options->json,
           "With --distribute, print what became of each node as rharness.distribution/v1");
}

int DistributeProbe(const DistributeOptions& options, const std::vector<std::string>& arguments,
                    const std::string& out, double timeout_seconds) {
  const auto code = Distribute(options, arguments, out, timeout_seconds);
  return code.ok() ? *code : FailWith(code.error());
}

}  // namespace rharness
