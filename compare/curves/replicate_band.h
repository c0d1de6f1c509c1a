// The distance of runs of the same thing, as a band around their mean.
//
// Role: private to this folder. Runs diverge and converge again during a training, so the band
// follows the runs at each part of it; nothing accumulates. A factor leaves room for an unseen run.
#ifndef RHARNESS_COMPARE_CURVES_REPLICATE_BAND_H_
#define RHARNESS_COMPARE_CURVES_REPLICATE_BAND_H_

#include <cstddef>
#include <vector>

namespace rharness {

// With fewer than three replicates beside `a`, leaving the band shows nothing.
inline constexpr std::size_t kFewestReplicates = 3;

struct ReplicateBand {
  std::vector<double> middle;  // mean of the runs, one value per step
  std::vector<double> limit;   // on |value - middle|
  double factor = 1.0;         // standard deviations, before sqrt(1 + 1 / runs)
  // The mean of the last quarter of the values, as a metric of its own.
  double late_middle = 0.0;
  double late_limit = 0.0;
  std::size_t late_first = 0;  // index of the first value of the last quarter
  double false_alarm = 0.0;    // stated for a further run; 0: not stated
};

// `runs`: a and its replicates, two or more, finite and of one length; no two are equal. `floor` >
// 0: the least standard deviation.
//
// The standard deviation at a step is that of the runs, pooled over the step and two values to each
// side. A run's score is its largest distance from the mean of the others, in standard deviations
// of the others times sqrt(1 + 1 / their number). The scores of the runs, each left out in turn,
// are taken as log-normal; the factor is the one-sided prediction limit for one more, at kBandShare
// of `false_alarm`, never below the largest of them, and never above the limit of Student's t on
// runs - 1 degrees of freedom, four at most, for as many tests as there are values. The rest of the
// rate goes to the late mean: a two-sided prediction limit by Student's t on runs - 1 degrees of
// freedom, never below what one of the runs needed. Both are tested at a quarter of their share:
// the tails of real runs are heavier than the models', and one run in a group may be an outlier. On
// 736 real repeats (64 groups of one model family) 0.2 to 0.4 % of further runs leave the band for
// 1 % stated, at most 5 % of any group's (tests/compare/curves/repeats_test.cc prints the table).
// O(values * runs).
inline constexpr double kBandShare = 0.4;
ReplicateBand BandOfRuns(const std::vector<std::vector<double>>& runs, double floor,
                         double false_alarm);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_REPLICATE_BAND_H_
