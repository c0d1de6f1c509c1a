// How far runs lie apart that differ by rounding alone, and whether a rerun lies further from its
// record.
//
// Role: private to this folder, pure. A record and its rerun have one seed; so have the runs of
// each group, which need not be theirs. Only the spread within groups is used, so one group serves
// all runs of a configuration.
#ifndef RHARNESS_COMPARE_CURVES_ROUNDING_SPREAD_H_
#define RHARNESS_COMPARE_CURVES_ROUNDING_SPREAD_H_

#include <cstddef>
#include <string>
#include <vector>

#include "compare/curves/judge_curve.h"

namespace rharness {

struct RoundingSpread {
  // Runs around 0 that stand for all groups: degrees + 1 of them, with the spread of these.
  std::vector<std::vector<double>> runs;
  std::size_t degrees = 0;  // of freedom: runs that differ, less one a group
  double quantum = 0.0;
  std::size_t incomplete = 0;  // runs without a finite value on some judged step
  std::size_t repeated = 0;    // runs equal to another one of their group: no rounding is seen
};

// Joins the groups by orthonormal contrasts: those of n runs, n - 1 of one standard deviation, are
// taken for those of one sample with as many degrees of freedom as all groups have together. A
// single group is that sample but for its mean.
// `smooth`: of running medians.
RoundingSpread SpreadOf(const std::vector<std::vector<CurveSeries>>& groups, const Judged& judged,
                        bool smooth = false);

// By |b - a|, which rounding alone makes sqrt(2) times the runs' standard deviation: the band of
// BandOfRuns around a, for a difference of two runs in place of one run and a mean of several.
// `spread` has degrees >= kFewestReplicates.
std::string JudgeBySpread(const RoundingSpread& spread, const std::string& source,
                          const Judged& judged, const CurveRules& rules, bool smooth,
                          CurveComparison* out);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_ROUNDING_SPREAD_H_
