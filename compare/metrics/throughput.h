// Throughput: is the new environment slower?
//
// Role: one number a run, the median step time after the warm-up, compared on the log scale. Only
// slower counts as drift (a one-sided test); equivalence is two-sided, so that "faster" is
// reported. Runs on one node share its speed: they are averaged, and the node is the unit.
#ifndef RHARNESS_COMPARE_METRICS_THROUGHPUT_H_
#define RHARNESS_COMPARE_METRICS_THROUGHPUT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "compare/metrics/decision.h"
#include "harness/base/result.h"

namespace rharness {

// The median of the step times after the first `warm_up`. invalid_input when none is left or one is
// not finite and positive.
Result<double> MedianStepSeconds(const std::vector<double>& step_seconds, std::size_t warm_up);

struct ThroughputRun {
  double step_seconds = 0.0;  // median after the warm-up; NaN: the run reported none that is finite
  std::string node;           // empty: a node of its own
};

struct ThroughputInput {
  std::string name = "step_seconds";
  bool primary = false;
  std::vector<ThroughputRun> history;
  std::vector<ThroughputRun> reruns;
  double margin_fraction = 0.0;  // 0.05: up to 5 % slower or faster is the same speed
  VariancePrior prior;           // of ln(step seconds)
  double alpha_drift = 0.01;     // one-sided
  double alpha_equivalence = 0.05;
};

// On ln(seconds): difference 0.1 is about 10 % slower. A shift to faster that is not within the
// margin is inconclusive with the reason "faster". n and k are numbers of nodes. invalid_input for
// a margin that is not above 0, and for an alpha_drift of 0.25 or more.
Result<MetricDecision> DecideThroughput(const ThroughputInput& input);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_METRICS_THROUGHPUT_H_
