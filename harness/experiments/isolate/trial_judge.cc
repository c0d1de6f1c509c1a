// Judging trials.
#include "harness/experiments/isolate/trial_judge.h"

#include <utility>

#include "harness/judge/compare_rerun.h"
#include "harness/judge/judge_run.h"

namespace rharness {

Comparison TrialJudge::Judge(const Manifest& trial, const std::vector<Evidence>& reruns,
                             std::vector<std::string>* damage) const {
  std::vector<Comparison> comparisons;
  std::vector<Evidence> compared;
  for (const Evidence& evidence : reruns) {
    comparisons.push_back(CompareRerun(trial, evidence, places, folder, damage));
    if (comparisons.back().ends.front().state == RerunEnd::State::kCompared) {
      compared.push_back(evidence);
    }
  }
  // By its own configuration: the trial has a different one if data or code differ.
  auto metrics = DecideMetrics({ComparedRunOf(recorded, compared)}, family).runs.front();
  return JudgeRun(trial, reruns, comparisons, MergeReruns(trial, comparisons), std::move(metrics));
}

}  // namespace rharness
