// Submits nodes, follows their jobs, and reports the end of each.
#include "harness/execution/dispatch/node_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "harness/base/clean_text.h"
#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/execution/dispatch/task_folder.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// $1: the folder of the sweep. $2: of the job. $3: how long the last nodes may take once the first
// has ended. The rest: the command.
constexpr std::string_view kJobScript =
    "#!/bin/sh\n"
    "sweep=$1 job=$2 grace=$3\n"
    "shift 3\n"
    "exec srun ${SLURM_CPUS_PER_TASK:+--cpus-per-task=$SLURM_CPUS_PER_TASK} --ntasks-per-node=1 "
    "\\\n"
    "  --mpi=none --kill-on-bad-exit=0 --no-kill --wait=\"$grace\" \\\n"
    "  sh \"$sweep/node.sh\" \"$job/\" \"$@\"\n";

// One that is there under its last name alone has ended.
constexpr std::string_view kNodeScript =
    "#!/bin/sh\n"
    "cd \"$1$SLURMD_NODENAME\" || exit 1\n"
    "shift\n"
    "\"$@\" >log.txt 2>&1\n"
    "echo $? >exit.part && mv exit.part exit\n";

constexpr std::chrono::nanoseconds kFirstRound = std::chrono::seconds(1);
constexpr std::chrono::nanoseconds kLongestRound = std::chrono::seconds(30);
constexpr std::chrono::nanoseconds kLongestUnsettled = std::chrono::seconds(10);  // a job is over
// A job of several nodes that has not started by then waits for one of them.
constexpr std::chrono::nanoseconds kPatience = std::chrono::minutes(3);
constexpr int kMostAttempts = 2;
constexpr int kMostPreemptions = 20;
constexpr std::uint64_t kMostLogBytes = std::uint64_t{16} << 20;

std::string LastLineOf(const fs::path& file) {
  const auto text = ReadFile(file, kMostLogBytes);
  return text.ok() ? LastLine(*text) : "";
}

std::optional<int> ExitOf(const fs::path& folder) {
  const auto text = ReadFile(folder / "exit", 100);
  int code = 0;
  if (!text.ok()) return std::nullopt;
  const auto end = std::from_chars(text->data(), text->data() + text->size(), code);
  if (end.ec != std::errc() || code < 0 || code > 255) return std::nullopt;
  return code;
}

}  // namespace

std::string LineAbout(std::string_view log, std::string_view node) {
  constexpr std::string_view kOfNames =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  const auto is_name = [&](std::size_t at) {
    return at < log.size() && kOfNames.find(log[at]) != std::string_view::npos;
  };
  for (auto at = log.rfind(node); at != std::string_view::npos && !node.empty();
       at = at == 0 ? std::string_view::npos : log.rfind(node, at - 1)) {
    if ((at > 0 && is_name(at - 1)) || is_name(at + node.size())) continue;
    const auto before = log.rfind('\n', at);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    return TerminalSafe(log.substr(begin, log.find('\n', at) - begin));
  }
  return "";
}

NodeSweep::NodeSweep(SweepOptions options, NodeChoice choice, SlurmClient* client, Clock* clock)
    : options_(std::move(options)), choice_(std::move(choice)), client_(*client), clock_(*clock) {}

fs::path NodeSweep::FolderOf(int batch) const { return options_.folder / std::to_string(batch); }

std::string SweepJobName(std::string_view id, int batch) {
  return fmt::format("rharness.{}.{}", id, batch);
}

Status NodeSweep::Begin() {
  ASSIGN_OR_RETURN(const std::vector<SlurmNode> nodes, client_.Nodes(choice_));
  if (nodes.empty()) {
    return InvalidInput(
        fmt::format("Slurm shows no node {}{}; `sinfo` lists those that there are",
                    choice_.partition.empty() ? "of the default partition"
                                              : "of partition " + TerminalSafe(choice_.partition),
                    choice_.nodelist.empty() && choice_.constraint.empty()
                        ? ""
                        : " that --nodelist and --constraint mean"),
        "--sbatch");
  }
  RETURN_IF_ERROR(MakeDirectories(options_.folder));
  RETURN_IF_ERROR(WriteFileAtomic(options_.folder / "id", options_.id));
  RETURN_IF_ERROR(WriteFileAtomic(options_.folder / "job.sh", kJobScript));
  RETURN_IF_ERROR(WriteFileAtomic(options_.folder / "node.sh", kNodeScript));
  for (const SlurmNode& node : nodes) {
    names_.push_back(node.name);
    parts_[node.name].seen = node;
  }
  began_ = clock_.Monotonic();
  DropUnusable();
  return {};
}

Result<std::vector<NodeEnd>> NodeSweep::Wait(std::chrono::nanoseconds longest) {
  const MonotonicTime now = clock_.Monotonic();
  if (ended_.empty() && now < next_round_) {
    clock_.SleepFor(std::min<std::chrono::nanoseconds>(longest, next_round_ - now));
    return std::vector<NodeEnd>();
  }
  if (ended_.empty()) {
    RETURN_IF_ERROR(Round());
    const bool unsettled = std::ranges::any_of(
        batches_, [](const auto& batch) { return batch.second.ended.has_value(); });
    interval_ =
        ended_.empty() && interval_.count() > 0
            ? std::min(unsettled ? kLongestUnsettled : kLongestRound, interval_ + interval_ / 2)
            : kFirstRound;
    next_round_ = clock_.Monotonic() + interval_;
  }
  return std::exchange(ended_, {});
}

Status NodeSweep::Round() {
  Collect();
  if (parts_.empty()) return {};
  if (Poll()) {
    // What waits, or is handed over and has not started, may have lost its node.
    if (LookAtNodes()) {
      DropUnusable();
      DropLate();
      return SubmitNext();
    }
  }
  DropLate();
  return {};
}

// Nodes whose command has ended, whatever Slurm reports on their jobs.
void NodeSweep::Collect() {
  for (auto& [number, batch] : batches_) {
    if (batch.ended) Refresh(FolderOf(number));
    std::erase_if(batch.nodes, [&, number = number](const std::string& node) {
      const fs::path folder = FolderOf(number) / node;
      const std::optional<int> code = ExitOf(folder);
      if (!code) return false;
      ended_.push_back({node, folder, code, LastLineOf(folder / "log.txt")});
      parts_.erase(node);
      return true;
    });
  }
}

void NodeSweep::End(const std::string& node, std::string why) {
  ended_.push_back({.node = node, .folder = {}, .exit_code = {}, .why = std::move(why)});
  parts_.erase(node);
}

void NodeSweep::TellSilence(const Error& error) {
  if (!std::exchange(silent_, true)) {
    LogWarning("Slurm does not answer; waiting: " + error.ToString());
  }
}

// False: Slurm does not answer.
bool NodeSweep::Poll() {
  FindNumbers();
  std::vector<std::uint64_t> jobs;
  for (const auto& [number, batch] : batches_) {
    if (batch.job) jobs.push_back(*batch.job);
  }
  if (jobs.empty()) return true;
  auto queue = client_.Queue(jobs);
  // It answers, and tells nothing of these jobs.
  const bool refused = !queue.ok() && queue.error().code == ErrorCode::kInvalidInput;
  unknown_why_ = refused ? ": " + queue.error().ToString() : "";
  if (refused) queue = SlurmTasks();
  if (!queue.ok()) {
    TellSilence(queue.error());
    return false;
  }
  silent_ = false;
  std::vector<int> numbers;
  for (const auto& [number, batch] : batches_) {
    if (batch.job) numbers.push_back(number);
  }
  for (const int number : numbers) {
    const auto found = queue->find(std::to_string(*batches_.at(number).job));
    SettleBatch(number, found == queue->end() ? std::nullopt : std::optional(found->second));
  }
  return true;
}

// Jobs without a known submission.
void NodeSweep::FindNumbers() {
  std::vector<int> missing;
  for (auto& [number, batch] : batches_) {
    if (batch.job) continue;
    const auto job = client_.FindByName(SweepJobName(options_.id, number));
    if (!job.ok()) return TellSilence(job.error());
    if (*job) {
      batch.job = *job;
    } else {
      missing.push_back(number);
    }
  }
  for (const int number : missing) GiveBack(number, false);
}

void NodeSweep::SettleBatch(int number, const std::optional<SlurmTask>& said) {
  Batch& batch = batches_.at(number);
  const MonotonicTime now = clock_.Monotonic();
  const SlurmPhase phase = said ? PhaseOf(said->state) : SlurmPhase::kUnknown;
  if (phase == SlurmPhase::kLive) {
    batch.ended.reset();
    batch.waits = said->state == "PENDING";
    batch.reason = said->reason;
    if (batch.waits) return SettleWaiting(number, *said);
    // Its nodes have all ended: nothing more comes of it.
    if (batch.nodes.empty()) batches_.erase(number);
    return;
  }
  batch.waits = false;
  if (!batch.ended) batch.ended = now;
  const auto lag = phase == SlurmPhase::kUnknown ? kUnknownLimit : kEvidenceLag;
  if (!batch.nodes.empty() && now - *batch.ended < lag) return;
  if (said) return EndBatch(number, *said);
  EndUnknown(number);
}

// What runs there now, if anything, nobody knows: it is not tried again beside it.
void NodeSweep::EndUnknown(int number) {
  const Batch batch = std::move(batches_.at(number));
  batches_.erase(number);
  (void)client_.Cancel({std::to_string(batch.job.value_or(0))});
  for (const std::string& node : batch.nodes) {
    End(node,
        fmt::format("Slurm's queue does not know its job {} any more{}, and it left no "
                    "answer within {}",
                    batch.job.value_or(0), unknown_why_, FormatDuration(Seconds(kUnknownLimit))));
  }
}

void NodeSweep::SettleWaiting(int number, const SlurmTask& said) {
  const Batch& batch = batches_.at(number);
  const std::string hopeless = WhyHopeless(said);
  const bool too_long = clock_.Monotonic() - batch.submitted > kPatience;
  if (batch.single && !hopeless.empty()) {
    const std::string node = batch.nodes.front();
    GiveBack(number, true);
    End(node, hopeless);
  } else if (!batch.single && (too_long || !hopeless.empty())) {
    GiveBack(number, true);
  }
}

// Its nodes wait again; the job is cancelled, as far as there is one.
void NodeSweep::GiveBack(int number, bool alone) {
  const Batch& batch = batches_.at(number);
  const Status cancelled = client_.Cancel(
      {batch.job ? std::to_string(*batch.job) : "--name=" + SweepJobName(options_.id, number)});
  if (!cancelled.ok()) LogWarning("cannot cancel: " + cancelled.error().ToString());
  for (const std::string& node : batch.nodes) {
    Part& part = parts_.at(node);
    part.batch.reset();
    part.alone = part.alone || alone;
  }
  batches_.erase(number);
}

// Its job is over, and these nodes gave no result.
void NodeSweep::EndBatch(int number, const SlurmTask& said) {
  const auto log = ReadFile(FolderOf(number) / "log.txt", kMostLogBytes);
  const Batch batch = std::move(batches_.at(number));
  batches_.erase(number);
  const bool preempted = PhaseOf(said.state) == SlurmPhase::kPreempted;
  for (const std::string& node : batch.nodes) {
    Part& part = parts_.at(node);
    part.batch.reset();
    part.alone = true;
    const std::string line = log.ok() ? LineAbout(*log, node) : "";
    const std::string own = LastLineOf(FolderOf(number) / node / "log.txt");
    part.why = fmt::format("Slurm says {} of its job {}, and it left no answer",
                           TerminalSafe(said.state), batch.job.value_or(0));
    if (!line.empty()) part.why += ": " + line;
    if (line.empty() && !own.empty()) part.why += "; it last printed: " + own;
    const int again = preempted ? ++part.preempted : ++part.attempts;
    if (again >= (preempted ? kMostPreemptions : kMostAttempts)) End(node, part.why);
  }
}

}  // namespace rharness
