// The passes of a drill between its reruns and its report.
#include "harness/experiments/gameday/trial_drill.h"

#include <utility>

#include "harness/base/log.h"
#include "harness/judge/compare_rerun.h"
#include "harness/judge/judge_family.h"
#include "harness/judge/judge_siblings.h"

namespace rharness {

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
    verdicts.push_back({judged.verdict, judged.needs_confirmation, judged.headline});
  }
  return verdicts;
}

}  // namespace rharness
