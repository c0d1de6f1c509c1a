// Acceptance rules of other projects, so that their records can be read as intended.
//
// Role: compatibility only; the decision design (compare/metrics) does not use them.
// Source: MLCommons logging, rcp_checker 4.1.59; ReFrame documentation, `reference` of a test.
#ifndef RHARNESS_COMPARE_STATS_BENCHMARK_RULES_H_
#define RHARNESS_COMPARE_STATS_BENCHMARK_RULES_H_

#include <optional>
#include <vector>

#include "compare/stats/student_t.h"

namespace rharness::stats {

struct ConvergenceReference {
  double mean = 0.0;                // olympic: the `reject` extremes on each side left out
  double standard_deviation = 0.0;  // population formula over all runs, as in that checker
  double min_epochs = 0.0;          // smallest acceptable submission mean
  double max_speedup = 0.0;         // mean / min_epochs
};

// submission_runs >= 3 (two of them are dropped). Everything NaN when too few runs remain.
ConvergenceReference MlperfReference(const std::vector<double>& epochs, int submission_runs,
                                     int reject, double alpha);

// Bounds as fractions of |reference|, absolute when the reference is 0; an absent side is infinite.
Interval ReframeBounds(double reference, std::optional<double> lower, std::optional<double> upper);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_BENCHMARK_RULES_H_
