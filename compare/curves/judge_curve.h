// Judges a curve that differs in one of three ways: by further runs, by accepted upgrades, by a
// margin.
//
// Role: private to this folder, pure. curve_comparison.cc settles everything else before: vacuity,
// bits, values that are not finite, and gross differences (gross_difference.h). rounding_spread.h
// is the fourth way: runs that differ by rounding alone.
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

// Sets state, basis, rule, band, middle, statistic, first_beyond, false_alarm and the nature of the
// difference; returns the clause of the message with the reason. `judged` holds at least five
// values.
std::string JudgeCurve(const Judged& judged, const FurtherCurves& further, const CurveRules& rules,
                       CurveComparison* out);

// The same by further runs alone; returns empty, and sets nothing, if none is usable.
std::string JudgeByFurther(const Judged& judged, const FurtherCurves& further,
                           const CurveRules& rules, CurveComparison* out);

// Shared by the bands of further runs: the least standard deviation. A difference below it is none,
// whatever the runs do. For a metric that is no loss also the smallest distance of two values: a
// share of 500 answers moves by whole answers, and runs that give the same answers for a while say
// nothing against one more.
double FloorOf(const Judged& judged, double quantum, const CurveRules& rules, CurveKind kind);
// A metric that is no loss, such as a norm of gradients, has spikes that are no change: from 20
// values on its band is a band of running medians of five, and a spike alone is undecided.
inline constexpr std::string_view kOfMedians =
    "; of running medians of five values, since what is no loss has spikes";
bool IsSmoothed(CurveKind kind, const Judged& judged);
std::vector<double> RunningMedian(const std::vector<double>& values);
// Sets statistic and first_beyond where `b` leaves the band. Returns how far its last quarter is
// off, if that is beyond its limit.
std::optional<double> HoldToBand(const std::vector<double>& b, const Judged& judged,
                                 const ReplicateBand& band, CurveComparison* out);
double MeanFrom(const std::vector<double>& values, std::size_t first);
// Width of the band, as a share of the curve's size, on half of the values and on the whole last
// quarter: a training settles, and its first values may lie anywhere.
double WidthThatCounts(const ReplicateBand& band, double size);
// Moves results on the judged steps to the aligned ones.
std::vector<double> OnAlignedSteps(const Judged& judged, const std::vector<double>& values,
                                   std::size_t aligned);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_JUDGE_CURVE_H_
