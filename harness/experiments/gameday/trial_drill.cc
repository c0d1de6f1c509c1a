// The passes of a drill between its reruns and its report.
#include "harness/experiments/gameday/trial_drill.h"

#include <fmt/format.h>

#include <utility>

#include "harness/base/log.h"
#include "harness/judge/compare_rerun.h"
#include "harness/judge/gang_facts.h"
#include "harness/judge/judge_family.h"
#include "harness/judge/judge_siblings.h"

namespace rharness {
namespace {

// Of a run over several nodes: the first difference that one rank or node alone has, with the host
// where it was seen; empty: there is none.
std::string OnOnePart(const Comparison& judged) {
  for (const LayerComparison& layer : judged.layers) {
    for (const FactDifference& one : layer.differences) {
      const bool is_part =
          one.key.find(kOnRank) != one.key.npos || one.key.find(kOnNode) != one.key.npos;
      if (!is_part) continue;
      return fmt::format("{}: {} -> {}", one.key, one.recorded.value_or("absent"),
                         one.observed.value_or("absent"));
    }
  }
  return "";
}

}  // namespace

std::vector<TrialVerdict> JudgeTrial(const std::vector<DrilledRun>& runs,
                                     const TrialGround& ground) {
  RunStates states;
  std::vector<std::string> run_ids;
  for (const DrilledRun& run : runs) {
    RunState& state = states[run.manifest.run_id];
    state.manifest = run.manifest;
    state.evidence = run.evidence;
    run_ids.push_back(run.manifest.run_id);
    std::vector<std::string> damage;
    for (const auto& [rerun, evidence] : run.evidence) {
      state.reruns.emplace(
          rerun, CompareRerun(run.manifest, evidence, ground.places, ground.folder, &damage));
    }
    for (const std::string& one : damage) LogWarning(one);
  }
  Replicates replicates = ground.replicates;
  replicates.Settle(run_ids, &states);
  std::vector<RunState*> all;
  for (const std::string& run_id : run_ids) all.push_back(&states.at(run_id));
  MergeAndJudgeSiblings(all);
  JudgeTogether(all, ground.family);
  std::vector<TrialVerdict> verdicts;
  for (const RunState* state : all) {
    const Comparison& judged = state->comparison;
    std::string headline = judged.headline;
    if (const std::string part = OnOnePart(judged); !part.empty()) {
      headline = fmt::format("{}; {}", part, headline);
    }
    verdicts.push_back({judged.verdict, judged.needs_confirmation, std::move(headline)});
  }
  return verdicts;
}

}  // namespace rharness
