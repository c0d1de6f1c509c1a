// The next submissions of a sweep, and the nodes that it gives up or cancels.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/execution/dispatch/node_sweep.h"
#include "harness/execution/dispatch/task_folder.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kMargin = std::chrono::minutes(10);  // for starting and ending
// How long the last nodes of a job may take once its first one has ended: the others are kept from
// their work by them. They are tried again by themselves.
constexpr std::chrono::seconds kGrace = std::chrono::minutes(10);

}  // namespace

std::vector<std::vector<std::string>> NextGroups(const std::vector<WaitingNode>& waiting,
                                                 std::size_t queued) {
  std::vector<std::vector<std::string>> groups;
  for (const WaitingNode& node : waiting) {
    if (node.alone || node.room != NodeRoom::kFree) continue;
    if (groups.empty() || groups.back().size() == kMostNodesAJob) groups.emplace_back();
    groups.back().push_back(node.name);
  }
  for (const WaitingNode& node : waiting) {
    const bool together = !node.alone && node.room == NodeRoom::kFree;
    if (together || node.room == NodeRoom::kUnusable) continue;
    if (queued >= kMostQueued) break;
    ++queued;
    groups.push_back({node.name});
  }
  return groups;
}

// False: Slurm does not answer.
bool NodeSweep::LookAtNodes() {
  const bool wanted = std::ranges::any_of(parts_, [&](const auto& part) {
    return !part.second.batch || !batches_.at(*part.second.batch).ended;
  });
  if (!wanted) return true;
  const auto nodes = client_.Nodes(choice_);
  if (!nodes.ok()) {
    TellSilence(nodes.error());
    return false;
  }
  for (auto& [name, part] : parts_) {
    const auto found = std::ranges::find(*nodes, name, &SlurmNode::name);
    if (found != nodes->end()) {
      part.seen = *found;
    } else {
      part.seen.state = "down";
      part.seen.reason = "Slurm does not show it any more";
    }
  }
  return true;
}

// Those that no job starts on, and that none has started on.
void NodeSweep::DropUnusable() {
  std::vector<std::string> gone;
  for (const auto& [name, part] : parts_) {
    const bool started = part.batch && !batches_.at(*part.batch).waits;
    if (!started && RoomOf(part.seen, choice_.reserved) == NodeRoom::kUnusable) {
      gone.push_back(name);
    }
  }
  for (const std::string& name : gone) {
    const Part& part = parts_.at(name);
    // With others of its job, which wait for it in vain.
    if (part.batch) GiveBack(*part.batch, false);
    End(name, DescribeState(part.seen) + (part.why.empty() ? "" : "; before, " + part.why));
  }
}

void NodeSweep::DropLate() {
  const auto waited = clock_.Monotonic() - began_;
  if (waited < options_.wait) return;
  const bool at_all = waited >= options_.wait + options_.timeout + kGrace + 2 * kMargin;
  std::vector<std::pair<std::string, std::string>> late;
  for (const auto& [name, part] : parts_) {
    const Batch* batch = part.batch ? &batches_.at(*part.batch) : nullptr;
    if (batch != nullptr && !batch->waits && !at_all) continue;
    std::string why = fmt::format("did not come free within {} ({}",
                                  FormatDuration(Seconds(options_.wait)), DescribeState(part.seen));
    if (batch != nullptr && !batch->reason.empty() && batch->reason != "None") {
      why += "; Slurm's reason: " + TerminalSafe(batch->reason);
    }
    why += ")";
    if (!part.why.empty()) why = part.why;
    if (silent_) why = "Slurm does not answer";
    if (batch != nullptr && !batch->waits) why = "its job does not end";
    late.emplace_back(name, why);
  }
  for (const auto& [name, why] : late) {
    const Part& part = parts_.at(name);
    if (part.batch) GiveBack(*part.batch, true);
    End(name, why);
  }
}

Status NodeSweep::SubmitNext() {
  if (clock_.Monotonic() - began_ >= options_.wait) return {};
  std::vector<WaitingNode> waiting;
  for (const auto& [name, part] : parts_) {
    if (!part.batch) waiting.push_back({name, RoomOf(part.seen, choice_.reserved), part.alone});
  }
  const auto queued = std::ranges::count_if(
      batches_, [](const auto& batch) { return batch.second.single && batch.second.waits; });
  for (const std::vector<std::string>& group :
       NextGroups(waiting, static_cast<std::size_t>(queued))) {
    // Refused with others meanwhile.
    if (!parts_.contains(group.front())) continue;
    RETURN_IF_ERROR(SubmitGroup(group));
  }
  return {};
}

std::vector<std::string> NodeSweep::Arguments(int number,
                                              const std::vector<std::string>& group) const {
  const fs::path folder = FolderOf(number);
  // In patterns of file names a "%" is written twice.
  std::string log = folder.string();
  for (auto at = log.find('%'); at != std::string::npos; at = log.find('%', at + 2)) {
    log.insert(at, 1, '%');
  }
  const auto minutes = std::chrono::ceil<std::chrono::minutes>(options_.timeout + kMargin).count();
  std::vector<std::string> arguments = {"--job-name=" + SweepJobName(options_.id, number),
                                        "--comment=" + options_.id,
                                        fmt::format("--time={}", minutes),
                                        "--no-requeue",
                                        "--no-kill",
                                        "--export=ALL",
                                        "--chdir=" + folder.string(),
                                        "--output=" + log + "/log.txt"};
  arguments.insert(arguments.end(), choice_.others.begin(), choice_.others.end());
  arguments.insert(
      arguments.end(),
      {fmt::format("--nodes={}", group.size()), "--ntasks-per-node=1",
       fmt::format("--nodelist={}", fmt::join(group, ",")), (options_.folder / "job.sh").string(),
       options_.folder.string(), folder.string(), std::to_string(kGrace.count())});
  arguments.insert(arguments.end(), options_.command.begin(), options_.command.end());
  return arguments;
}

Status NodeSweep::SubmitGroup(const std::vector<std::string>& group) {
  const int number = ++last_batch_;
  for (const std::string& node : group) RETURN_IF_ERROR(MakeDirectories(FolderOf(number) / node));
  const auto job = client_.Submit(Arguments(number, group));
  if (!job.ok() && job.error().code == ErrorCode::kNotFound) return job.error();
  if (!job.ok() && job.error().code == ErrorCode::kInvalidInput) {
    Refuse(group, job.error().ToString());
    return {};
  }
  // A failed call may have taken effect all the same.
  if (job.ok()) refusal_.clear();
  if (!job.ok()) TellSilence(job.error());
  batches_[number] = {.nodes = group,
                      .single = group.size() == 1,
                      .job = job.ok() ? std::optional(*job) : std::nullopt,
                      .submitted = clock_.Monotonic(),
                      .reason = {},
                      .ended = {}};
  for (const std::string& node : group) parts_.at(node).batch = number;
  return {};
}

// Several nodes may be too many for one job, or one of them may be the trouble: each is tried
// separately. Slurm's answer for two of them holds for all.
void NodeSweep::Refuse(const std::vector<std::string>& group, const std::string& why) {
  std::vector<std::string> refused;
  if (group.size() == 1) {
    for (const auto& [name, part] : parts_) {
      const bool same = !part.batch && why == refusal_;
      if (same || name == group.front()) refused.push_back(name);
    }
    refusal_ = why;
  } else {
    for (const std::string& node : group) parts_.at(node).alone = true;
  }
  for (const std::string& node : refused) End(node, "Slurm refused it: " + TerminalSafe(why));
}

void NodeSweep::Cancel() {
  std::vector<int> numbers;
  for (const auto& [number, batch] : batches_) numbers.push_back(number);
  for (const int number : numbers) GiveBack(number, true);
  std::vector<std::string> left;
  for (const auto& [name, part] : parts_) left.push_back(name);
  for (const std::string& name : left) End(name, "cancelled");
}

Status CancelSweep(const fs::path& folder, SlurmClient* client) {
  const auto id = ReadFile(folder / "id", 100);
  if (!id.ok()) return {};
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const int number = BatchNumber(entry->path());
    if (number == 0) continue;
    RETURN_IF_ERROR(client->Cancel({"--name=" + SweepJobName(*id, number)}));
  }
  return {};
}

}  // namespace rharness
