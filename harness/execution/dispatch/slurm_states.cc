// Parses Slurm's output, and decides from it.
#include "harness/execution/dispatch/slurm_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "harness/base/files.h"

namespace rharness {
namespace {

constexpr std::string_view kDigits = "0123456789";

std::vector<std::string_view> Split(std::string_view line, char mark) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = line.find(mark);
    parts.push_back(line.substr(0, at));
    if (at == std::string_view::npos) return parts;
    line.remove_prefix(at + 1);
  }
}

// "123_4", and "123" of a whole array
bool IsTaskId(std::string_view id) {
  const auto bar = id.find('_');
  if (id.empty() || bar == 0 || bar + 1 == id.size()) return false;
  const std::string_view index = bar == id.npos ? "0" : id.substr(bar + 1);
  return id.substr(0, bar).find_first_not_of(kDigits) == std::string_view::npos &&
         index.find_first_not_of(kDigits) == std::string_view::npos;
}

// "CANCELLED by 0" and "RUNNING+" are these states with something added.
std::string PlainState(std::string_view state) {
  return std::string(state.substr(0, state.find_first_of(" +")));
}

// Placeholders for no node: "", "None assigned", "(null)". What no list of nodes has is none,
// either: a name becomes an argument of sbatch.
std::string NodeOf(std::string_view text) {
  constexpr std::string_view kSigns =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-[],";
  constexpr std::size_t kLongest = 4096;
  const bool has_others = text.find_first_not_of(kSigns) != std::string_view::npos;
  if (has_others || text.size() > kLongest || text.starts_with('-')) return "";
  return std::string(text);
}

Result<SlurmTasks> ParseTasks(std::string_view text, std::size_t fields, const char* command) {
  SlurmTasks tasks;
  for (const std::string_view line : Split(text, '\n')) {
    if (line.empty()) continue;
    const std::vector<std::string_view> parts = Split(line, '|');
    if (parts.size() != fields) {
      return InvalidInput(fmt::format("expected {} fields between bars; found \"{}\"", fields,
                                      TerminalSafe(std::string(line.substr(0, 200)))),
                          command);
    }
    // An array that was cancelled before a task of it started.
    constexpr std::string_view kWhole = "_N/A";
    std::string_view id = parts[0];
    if (id.ends_with(kWhole)) id.remove_suffix(kWhole.size());
    // Tasks that wait together are "123_[4-9]".
    if (!IsTaskId(id)) continue;
    tasks[std::string(id)] = {.state = PlainState(parts[1]),
                              .node = NodeOf(parts[2]),
                              .reason = std::string(fields > 3 ? parts[3] : "")};
  }
  return tasks;
}

template <std::size_t N>
bool IsIn(std::string_view text, const std::array<std::string_view, N>& list) {
  return std::ranges::find(list, text) != list.end();
}

std::string OnNode(const SlurmTask& task) {
  return task.node.empty() ? "" : " on " + TerminalSafe(task.node);
}

}  // namespace

Result<SlurmTasks> ParseSqueue(std::string_view text) { return ParseTasks(text, 4, "squeue"); }

Result<SlurmTasks> ParseSacct(std::string_view text) { return ParseTasks(text, 3, "sacct"); }

Result<std::uint64_t> ParseSbatch(std::string_view text) {
  std::uint64_t job = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), job);
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error == std::errc() && job > 0 && (rest.empty() || rest[0] == '\n' || rest[0] == ';')) {
    return job;
  }
  return InvalidInput(fmt::format("expected the number of a job; found \"{}\"",
                                  TerminalSafe(std::string(text.substr(0, 200)))),
                      "sbatch");
}

int MaxArraySize(std::string_view config) {
  constexpr int kDefault = 1001;
  for (const std::string_view line : Split(config, '\n')) {
    if (!line.starts_with("MaxArraySize")) continue;
    const auto at = line.find_first_of(kDigits);
    int size = 0;
    if (at == std::string_view::npos) break;
    std::from_chars(line.data() + at, line.data() + line.size(), size);
    return size > 0 ? size : kDefault;
  }
  return kDefault;
}

SlurmPhase PhaseOf(std::string_view state) {
  static constexpr std::array<std::string_view, 14> kLive = {
      "PENDING",   "RUNNING",   "CONFIGURING",   "COMPLETING",   "SUSPENDED",
      "RESIZING",  "REQUEUED",  "STOPPED",       "REQUEUE_HOLD", "REQUEUE_FED",
      "SIGNALING", "STAGE_OUT", "RESV_DEL_HOLD", "SPECIAL_EXIT"};
  static constexpr std::array<std::string_view, 6> kEnded = {
      "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "DEADLINE"};
  if (IsIn(state, kLive)) return SlurmPhase::kLive;
  if (IsIn(state, kEnded)) return SlurmPhase::kEnded;
  if (state == "NODE_FAIL" || state == "BOOT_FAIL" || state == "LAUNCH_FAILED") {
    return SlurmPhase::kNode;
  }
  if (state == "PREEMPTED" || state == "REVOKED") return SlurmPhase::kPreempted;
  return SlurmPhase::kUnknown;
}

std::string WhyHopeless(const SlurmTask& task) {
  static constexpr std::array<std::string_view, 15> kNever = {"BadConstraints",
                                                              "PartitionConfig",
                                                              "PartitionNodeLimit",
                                                              "PartitionTimeLimit",
                                                              "DependencyNeverSatisfied",
                                                              "AccountNotAllowed",
                                                              "QOSNotAllowed",
                                                              "InvalidAccount",
                                                              "InvalidQOS",
                                                              "JobHeldAdmin",
                                                              "JobHeldUser",
                                                              "AssocMaxCpuPerJobLimit",
                                                              "AssocMaxWallDurationPerJobLimit",
                                                              "QOSMaxWallDurationPerJobLimit",
                                                              "QOSMaxGRESPerJob"};
  if (task.state == "SPECIAL_EXIT" || task.state == "REQUEUE_HOLD") {
    return fmt::format("Slurm holds the task ({}), and starts it only when an operator releases it",
                       task.state);
  }
  if (task.state != "PENDING" || !IsIn(std::string_view(task.reason), kNever)) return "";
  return fmt::format("Slurm will never start it: {}", task.reason);
}

bool IsNodeOut(const SlurmTask& task) {
  return task.state == "PENDING" && task.reason.find("UnavailableNodes:") != std::string::npos;
}

bool IsServiceTrouble(std::string_view sbatch_stderr) {
  static constexpr std::array<std::string_view, 9> kTrouble = {
      "Unable to contact slurm controller",
      "Socket timed out",
      "Connection refused",
      "Connection timed out",
      "Slurm controller not responding",
      "Resource temporarily unavailable",
      "slurm_persist_conn_open",
      "Zero Bytes were transmitted or received",
      "temporarily unable to accept job"};
  return std::ranges::any_of(kTrouble, [&](std::string_view one) {
    return sbatch_stderr.find(one) != std::string_view::npos;
  });
}

TaskDecision DecideTask(const TaskView& view) {
  using Kind = TaskDecision::Kind;
  // What is live is in the queue; the accounting's word comes late.
  const bool queued = view.queue && PhaseOf(view.queue->state) == SlurmPhase::kLive;
  if (queued) {
    std::string why = WhyHopeless(*view.queue);
    if (!why.empty()) return {Kind::kRefused, std::move(why), ""};
    if (view.since_out < kOutLimit) return {};
    return {Kind::kRefused,
            "the node that it is for is out of service: " + TerminalSafe(view.queue->reason), ""};
  }
  const std::optional<SlurmTask>& said = view.queue ? view.queue : view.accounting;
  const SlurmPhase phase = said ? PhaseOf(said->state) : SlurmPhase::kUnknown;
  switch (phase) {
    case SlurmPhase::kLive:  // of the accounting, and gone from the queue
    case SlurmPhase::kUnknown:
      if (view.since_ended < kUnknownLimit) return {};
      return {
          Kind::kRetry,
          view.queue ? fmt::format("Slurm's queue says {}, which is no state that is known here",
                                   TerminalSafe(said->state.substr(0, 100)))
          : said ? fmt::format("Slurm's queue does not have the task any more, and its accounting "
                               "says {}",
                               TerminalSafe(said->state.substr(0, 100)))
                 : fmt::format("neither Slurm's queue nor its accounting{} knows the task",
                               view.accounting_answers ? "" : ", which does not answer,"),
          ""};
    case SlurmPhase::kPreempted:
      return {Kind::kPreempted,
              fmt::format("Slurm ended it for another job ({}{})", said->state, OnNode(*said)), ""};
    case SlurmPhase::kNode:
      return {Kind::kRetry, fmt::format("its node failed ({}{})", said->state, OnNode(*said)),
              said->node};
    case SlurmPhase::kEnded:
      break;
  }
  // For a task without a node there is nothing to wait for.
  const bool ran = !said->node.empty();
  if (ran && !view.stopped && view.since_ended < kEvidenceLag) return {};
  return {Kind::kRetry,
          fmt::format("Slurm says {}{}, and {}", said->state, OnNode(*said),
                      view.stopped ? "the run was stopped, but not by this drill"
                                   : "there is no evidence of the run"),
          ""};
}

}  // namespace rharness
