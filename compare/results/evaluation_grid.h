// How often a run was evaluated, and the effect on its count at the target.
//
// Role: pure. A run reaches the target between two evaluations and is counted at the second, so a
// coarser grid counts more, by half the additional distance on average.
// Not here: whether that sets groups apart (compare_results.h).
#ifndef RHARNESS_COMPARE_RESULTS_EVALUATION_GRID_H_
#define RHARNESS_COMPARE_RESULTS_EVALUATION_GRID_H_

#include <optional>
#include <string>
#include <vector>

#include "compare/results/mllog.h"

namespace rharness {

// Evaluations at offset + k x interval, in a run's unit.
struct EvaluationGrid {
  double interval = 0.0;  // > 0
  double offset = 0.0;    // in [0, interval)
};

// A larger bias of the mean count sets runs and groups apart: a tenth of the default margin.
inline constexpr double kLargestGridBias = 0.005;

// The median distance of the last six evaluations up to the target, and the position of the last
// one on it; for a single evaluation its distance from the start. Empty: none after the start.
std::optional<EvaluationGrid> GridOf(const MllogRun& run);

// The grid of the run whose interval is the (upper) median; empty if no run has one.
std::optional<EvaluationGrid> GridOf(const std::vector<MllogRun>& runs);

// "every 12288 samples, from 12256 on", the latter if the offset is not 0. Nine digits.
std::string DescribeGrid(const EvaluationGrid& grid, ConvergenceUnit unit);

// The counts of the converged runs on `grid`, as a factor on their geometric mean: exp of the mean
// of ln(expected count / count), if each reached the target anywhere in the last interval of its
// own grid with equal probability. Exact if their own grids contain every evaluation of `grid`. 1
// without a converged run that has a grid.
double GridBias(const std::vector<MllogRun>& runs, const EvaluationGrid& grid);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_RESULTS_EVALUATION_GRID_H_
