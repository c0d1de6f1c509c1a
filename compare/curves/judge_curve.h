// The three ways to judge a curve that differs: by further runs, by accepted upgrades, by a margin.
//
// Role: private to this folder, pure. curve_comparison.cc chooses nothing else: vacuity, bits and
// values that are not finite are settled before, and what is grossly apart (gross_difference.h).
// Runs that differ by rounding alone, the fourth: rounding_spread.h.
#ifndef RHARNESS_COMPARE_CURVES_JUDGE_CURVE_H_
#define RHARNESS_COMPARE_CURVES_JUDGE_CURVE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/curves/curve_alignment.h"
#include "compare/curves/curve_comparison.h"
#include "compare/curves/replicate_band.h"

namespace rharness {

// What a curve may be judged by beside itself.
struct FurtherCurves {
  std::vector<CurveSeries> replicates;             // of runs as A is
  std::vector<std::vector<CurveSeries>> rounding;  // groups of runs: RoundingRuns of this curve
  std::string source;                              // of these, in words
};

// Sets state, basis, rule, band, middle, statistic, first_beyond, false_alarm and what the
// difference looks like; returns the clause of the message that says why. `judged` holds at least
// five values.
std::string JudgeCurve(const Judged& judged, const FurtherCurves& further, const CurveRules& rules,
                       CurveComparison* out);

// The same by further runs alone; empty, and nothing is set, where none can be used.
std::string JudgeByFurther(const Judged& judged, const FurtherCurves& further,
                           const CurveRules& rules, CurveComparison* out);

// What bands of further runs share.
// The least standard deviation: a difference below it is none, whatever the runs do. Of what is no
// loss also the smallest distance of two values: a share of 500 answers moves by whole answers, and
// runs that give the same answers for a while say nothing against one more.
double FloorOf(const Judged& judged, double quantum, const CurveRules& rules, CurveKind kind);
// What is no loss has spikes, such as a norm of gradients, which are no change: of 20 values and
// more its band is one of running medians of five, and a spike alone is
// open.
inline constexpr std::string_view kOfMedians =
    "; of running medians of five values, since what is no loss has spikes";
bool IsSmoothed(CurveKind kind, const Judged& judged);
std::vector<double> RunningMedian(const std::vector<double>& values);
// Where `b` leaves the band: statistic and first_beyond. By how much its last quarter is off, where
// that is beyond its limit.
std::optional<double> HoldToBand(const std::vector<double>& b, const Judged& judged,
                                 const ReplicateBand& band, CurveComparison* out);
double MeanFrom(const std::vector<double>& values, std::size_t first);
// How wide the band is, as a share of the curve's size, on half of the values and on the last
// quarter throughout: a training settles, and its first values may lie anywhere.
double WidthThatCounts(const ReplicateBand& band, double size);
// Puts what was found on the judged steps among the aligned ones.
std::vector<double> OnAlignedSteps(const Judged& judged, const std::vector<double>& values,
                                   std::size_t aligned);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_JUDGE_CURVE_H_
