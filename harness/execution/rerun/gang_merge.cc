// One outcome, one list of remarks, and the parts of nodes and ranks.
#include "harness/execution/rerun/gang_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "harness/base/clock.h"

namespace rharness {
namespace {

void AddRemarks(const GangEnds& ends, Evidence* evidence) {
  for (std::size_t i = 1; i < ends.nodes.size(); ++i) {
    if (!ends.nodes[i]) continue;
    for (const Finding& remark : ends.nodes[i]->evidence.remarks) {
      const bool said = std::ranges::any_of(evidence->remarks, [&](const Finding& other) {
        return other.code == remark.code && other.message == remark.message;
      });
      if (said) continue;
      Finding finding = remark;
      finding.message = NodeInWords(i, ends.hosts[i]) + ": " + finding.message;
      evidence->remarks.push_back(std::move(finding));
    }
  }
}

// Files that no data account for and that another rank alone read are those of the run; a remark
// names the rank.
void AddInputs(const GangEnds& ends, const std::vector<SeenTask>& tasks, Evidence* evidence) {
  if (!evidence->observation || !evidence->observation->inputs) return;
  auto& inputs = *evidence->observation->inputs;
  for (std::size_t rank = 1; rank < tasks.size(); ++rank) {
    const auto& seen = tasks[rank].observation;
    if (!seen || !seen->inputs) continue;
    for (const SeenInput& input : *seen->inputs) {
      if (inputs.size() >= kMostSeenValues) return;
      if (std::ranges::find(inputs, input.path, &SeenInput::path) != inputs.end()) continue;
      inputs.push_back(input);
      const auto node = static_cast<std::size_t>(tasks[rank].node);
      const std::string who = ends.start == GangStart::kOnce
                                  ? NodeInWords(node, ends.hosts[node])
                                  : fmt::format("rank {} on {}", rank, ends.hosts[node]);
      evidence->remarks.push_back(
          {.code = std::string(kRankInput),
           .subject = input.path,
           .message =
               fmt::format("{} read {}, which {} 0 did not read and no data of the record are", who,
                           input.path, ends.start == GangStart::kOnce ? "node" : "rank")});
    }
  }
  std::ranges::sort(inputs, {}, &SeenInput::path);
}

void AddParts(const GangEnds& ends, Evidence* evidence) {
  std::vector<SeenNode> nodes;
  // A rank of a lost node has nothing but its place.
  std::vector<SeenTask> tasks(static_cast<std::size_t>(ends.tasks),
                              SeenTask{.node = 0, .outcome = "not known", .observation = {}});
  for (std::size_t i = 0; i < ends.nodes.size(); ++i) {
    SeenNode& node = nodes.emplace_back();
    node.host = ends.hosts[i];
    node.environment =
        i == 0 || !ends.nodes[i] ? evidence->environment : ends.nodes[i]->evidence.environment;
    if (!ends.nodes[i]) continue;
    for (const TaskEnd& end : ends.nodes[i]->tasks) {
      SeenTask task{.node = static_cast<int>(i), .outcome = {}, .observation = end.observation};
      if (!end.outcome.Succeeded()) task.outcome = end.outcome.ToString();
      if (end.stopped) task.outcome = "stopped with the others";
      // The number is of a file that the run could write, too.
      const auto rank = static_cast<std::size_t>(end.rank);
      if (rank < tasks.size()) tasks[rank] = std::move(task);
    }
  }
  evidence->gang = PartsOf(nodes, tasks);
  if (!tasks.empty() && tasks[0].observation) evidence->observation = tasks[0].observation;
  AddInputs(ends, tasks, evidence);
  auto found =
      DifferencesWithin(*evidence->gang, ends.start, evidence->environment, evidence->observation);
  for (Finding& finding : found) {
    finding.layer.reset();  // a remark with a layer would decide; these are facts as well
    evidence->remarks.push_back(std::move(finding));
  }
}

void AddTimes(const GangEnds& ends, Outcome* outcome) {
  outcome->cpu = {};
  for (const auto& node : ends.nodes) {
    if (!node) continue;
    for (const TaskEnd& task : node->tasks) {
      outcome->wall = std::max(outcome->wall, task.outcome.wall);
      outcome->cpu += task.outcome.cpu;
    }
    outcome->peak_memory_bytes = std::max(outcome->peak_memory_bytes, node->peak_memory_bytes);
  }
}

// Which ranks still ran when the time was over: the silent ones first, each by its node's clock.
std::string StillRunning(const GangEnds& ends) {
  struct Still {
    const TaskEnd* end;
    std::string host;
  };
  constexpr std::size_t kMostNamed = 3;
  std::vector<Still> still;
  std::vector<int> ranks;
  for (std::size_t i = 0; i < ends.nodes.size(); ++i) {
    for (std::size_t at = 0; ends.nodes[i] && at < ends.nodes[i]->tasks.size(); ++at) {
      const TaskEnd& end = ends.nodes[i]->tasks[at];
      if (!end.stopped && end.outcome.kind != OutcomeKind::kTimedOut) continue;
      still.push_back({&end, ends.hosts[i]});
      ranks.push_back(end.rank);
    }
  }
  std::ranges::sort(ranks);
  std::ranges::stable_sort(still, std::greater(),
                           [](const Still& one) { return one.end->silence; });
  std::string text = fmt::format("rank{} {} of {} still ran", ranks.size() == 1 ? "" : "s",
                                 InRanges(ranks), ends.tasks);
  for (std::size_t i = 0; i < std::min(still.size(), kMostNamed); ++i) {
    const TaskEnd& end = *still[i].end;
    text += fmt::format(
        "; rank {} on {} had printed nothing for {}, {}", end.rank, still[i].host,
        FormatDuration(end.silence),
        end.last_line.empty() ? "and nothing before" : "since \"" + end.last_line + "\"");
  }
  return text;
}

Finding TellFirst(const GangEnds& ends) {
  const FirstFailure& first = *ends.first;
  Finding finding{.code = std::string(kRankFailed),
                  .subject = fmt::format("rank {}", first.rank),
                  .observed = first.outcome.ToString()};
  finding.message = first.outcome.kind == OutcomeKind::kTimedOut
                        ? fmt::format("the run {}; {}", finding.observed, StillRunning(ends))
                        : InWords(first) + "; it was the first to fail";
  return finding;
}

// The obstacle of a lost node, or of one that could not do its part. True: there is one.
bool FindObstacle(const GangEnds& ends, Evidence* evidence, bool* infrastructure) {
  for (std::size_t i = 1; i < ends.nodes.size(); ++i) {
    const auto& node = ends.nodes[i];
    const std::string name = NodeInWords(i, ends.hosts[i]);
    if (!node) {
      evidence->obstacle = name + " fell silent while the run ran";
      evidence->remarks.push_back({.code = std::string(kNodeLost),
                                   .subject = ends.hosts[i],
                                   .message = evidence->obstacle});
      *infrastructure = true;
      return true;
    }
    if (node->evidence.obstacle.empty()) continue;
    evidence->obstacle = name + ": " + node->evidence.obstacle;
    evidence->obstacle_layer = node->evidence.obstacle_layer;
    // One that was stopped alone, as by its scheduler, has no answer.
    *infrastructure =
        node->infrastructure || node->evidence.outcome.kind == OutcomeKind::kCancelled;
    return true;
  }
  return false;
}

}  // namespace

std::string NodeInWords(std::size_t node, const std::string& host) {
  return host.empty() ? fmt::format("node {}", node) : fmt::format("node {} ({})", node, host);
}

bool MergeEnds(const GangEnds& ends, Evidence* evidence) {
  AddRemarks(ends, evidence);
  AddParts(ends, evidence);
  bool infrastructure = false;
  if (evidence->obstacle.empty() && FindObstacle(ends, evidence, &infrastructure)) {
    return infrastructure;
  }
  Outcome& outcome = evidence->outcome;
  if (ends.first) {
    outcome = ends.first->outcome;
    evidence->remarks.push_back(TellFirst(ends));
    AddTimes(ends, &outcome);
    return false;
  }
  outcome = {};
  outcome.kind = OutcomeKind::kExited;
  for (const auto& node : ends.nodes) {
    for (std::size_t i = 0; node && i < node->tasks.size(); ++i) {
      if (!node->tasks[i].outcome.Succeeded()) outcome = node->tasks[i].outcome;
    }
  }
  AddTimes(ends, &outcome);
  return false;
}

NodeReady WhyNotReady(const std::vector<NodeReady>& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].obstacle.empty()) continue;
    NodeReady why = nodes[i];
    if (i > 0) why.obstacle = NodeInWords(i, NodeName(why.machine)) + ": " + why.obstacle;
    return why;
  }
  return {};
}

}  // namespace rharness
