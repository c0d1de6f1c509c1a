// The distance of runs that differ by rounding alone, and whether a rerun lies further from its
// record.
//
// Role: private to this folder, pure. A record and its rerun share a seed, and so do the runs of a
// group; the two seeds may differ. Only the spread within groups is used, so one group serves all
// runs of a configuration.
#ifndef RHARNESS_COMPARE_CURVES_ROUNDING_SPREAD_H_
#define RHARNESS_COMPARE_CURVES_ROUNDING_SPREAD_H_

#include <cstddef>
#include <string>
#include <vector>

#include "compare/curves/judge_curve.h"

namespace rharness {

struct RoundingSpread {
  // Runs around 0 that represent all groups: degrees + 1 of them, with their spread.
  std::vector<std::vector<double>> runs;
  std::size_t degrees = 0;  // of freedom: differing runs, minus one per group
  double quantum = 0.0;
  std::size_t incomplete = 0;  // runs without a finite value on some judged step
  std::size_t repeated = 0;    // runs equal to one of their group: no rounding is seen
};

// Joins the groups by orthonormal contrasts: those of n runs, n - 1 with one standard deviation,
// are taken for those of one sample with the degrees of freedom of all groups together. A single
// group is that sample but for its mean. `smooth`: use running medians.
RoundingSpread SpreadOf(const std::vector<std::vector<CurveSeries>>& groups, const Judged& judged,
                        bool smooth = false);

// Judges |b - a|, which has by rounding alone sqrt(2) times the runs' standard deviation: the band
// of BandOfRuns around a, for a difference of two runs in place of one run and a mean of several.
// `spread` has degrees >= kFewestReplicates.
std::string JudgeBySpread(const RoundingSpread& spread, const std::string& source,
                          const Judged& judged, const CurveRules& rules, bool smooth,
                          CurveComparison* out);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_ROUNDING_SPREAD_H_
