// Time to target: how many samples a run needs to reach its quality, and whether that has changed.
//
// Role: on the log scale, with the evaluation interval as the resolution. A run that did not reach
// the target within its budget is censored: it has no time, is never trimmed, never gets an
// invented time, and counts in a category of its own. For MLPerf's own rule see
// stats/benchmark_rules.h. Source: Fisher's exact test for the censored counts
// (stats/proportions.h).
#ifndef RHARNESS_COMPARE_METRICS_TIME_TO_TARGET_H_
#define RHARNESS_COMPARE_METRICS_TIME_TO_TARGET_H_

#include <optional>
#include <string>
#include <vector>

#include "compare/metrics/decision.h"
#include "harness/base/result.h"

namespace rharness {

// Samples seen at the first evaluation that reaches the target; empty when none does. A value that
// is not finite never reaches it. invalid_input when sizes differ, there is no evaluation, or the
// sample counts are not positive and increasing.
Result<std::optional<double>> SamplesToTarget(const std::vector<double>& samples,
                                              const std::vector<double>& values, double target,
                                              bool higher_is_better);

struct TimeToTargetInput {
  std::string name = "samples_to_target";
  bool primary = true;
  std::vector<std::optional<double>> history;  // samples; empty: censored at the budget
  std::vector<std::optional<double>> reruns;
  double eval_interval = 0.0;    // samples between evaluations; 0: not known
  double margin_fraction = 0.0;  // 0.1: up to 10 % more or fewer samples are the same
  VariancePrior prior;           // of ln(samples)
  double alpha_drift = 0.01;
  double alpha_equivalence = 0.05;
};

struct TimeToTargetDecision {
  MetricDecision metric;  // on ln(samples) of the runs that arrived; the verdict is over all runs
  int censored_history = 0;
  int censored_reruns = 0;
  double p_censored = 1.0;  // that so many reruns or more do not arrive, if nothing changed
};

// Without censored runs this is DecideMetric. With any, equivalence is never claimed: reruns that
// do not arrive are a drift ("censored") when p_censored < alpha_drift, ask for confirmation when
// the only rerun did not while the whole history did, and are inconclusive otherwise
// ("censored_history" when only recorded runs are). A shift among the runs that arrived is no drift
// then either: the slowest are missing from it. invalid_input for an impossible margin, interval
// or time.
Result<TimeToTargetDecision> DecideTimeToTarget(const TimeToTargetInput& input);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_METRICS_TIME_TO_TARGET_H_
