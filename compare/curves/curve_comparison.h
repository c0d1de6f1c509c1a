// Two curves of one metric: equal, apart as far as a reordering of sums takes them, or further?
//
// Role: pure, from series to a comparison with the band it used. Three bases, strongest first:
//   bits          every aligned value is equal
//   replicates    runs of the same thing (or a run with one ULP planted) show how far rounding
//                 alone carries the curves apart
//   growth_model  the published divergence of mixed-precision training under a real upgrade; only
//                 within its stated limits
// Without a basis nothing is claimed. A curve that cannot tell is vacuous and never passes.
#ifndef RHARNESS_COMPARE_CURVES_CURVE_COMPARISON_H_
#define RHARNESS_COMPARE_CURVES_CURVE_COMPARISON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/curves/growth_model.h"
#include "compare/curves/series.h"

namespace rharness {

enum class CurveState {
  kIdentical,  // every aligned value equal bit for bit
  kWithin,     // differs, and by no more than a reordering does
  kBeyond,     // differs by more than a reordering does
  kUndecided,  // differs, and nothing says how far a reordering goes
  kVacuous,    // the curve cannot tell: see vacuity
  kMissing,    // on one side only
};
std::string_view CurveStateName(CurveState state);  // "identical", "within", "beyond", ...

struct CurveComparison {
  std::string name;
  CurveKind kind = CurveKind::kMetric;
  CurveState state = CurveState::kMissing;
  // "", "constant", "not_finite" (no aligned step is finite on both sides), "too_short",
  // "too_coarse" (a difference that matters is below the printed digits).
  std::string vacuity;
  std::string basis;  // "bits", "replicates", "growth_model" or "none"
  // The aligned steps, and on them both values and the limit on |b - a| (empty without a band).
  std::vector<std::int64_t> steps;
  std::vector<double> a;
  std::vector<double> b;
  std::vector<double> band;
  std::uint64_t only_a = 0;  // steps on one side only
  std::uint64_t only_b = 0;
  std::uint64_t differing = 0;                   // aligned steps whose bits differ
  std::optional<std::int64_t> first_difference;  // step: bits
  std::optional<std::int64_t> first_beyond;      // step: |b - a| above the band
  std::optional<std::int64_t> first_non_finite;  // step: finite in a, not finite in b
  double max_abs = 0.0;                          // over steps finite on both sides
  double max_rel = 0.0;                          // |b - a| / |a|
  std::int64_t max_step = 0;                     // where max_rel is
  double statistic = 0.0;    // largest |b - a| over band, what the limit of 1 is compared with
  double false_alarm = 0.0;  // stated probability that a mere reordering ends beyond; 0: not stated
  std::string rule;          // the rule that decided, in words, with its numbers
  std::string message;       // one sentence for people
};

struct CurveRules {
  double false_alarm = 0.01;     // of one curve
  double smallest_fault = 5e-3;  // relative; what a curve must be able to show not to be vacuous
  int min_steps = 5;             // aligned steps, finite on both sides
  GrowthRecord growth = kPublishedGrowth;
};

// `replicates`: further curves of the same metric from runs of the same configuration as `a`, or
// from a run with one ULP planted; they are compared with `a` and with each other. One that lacks a
// finite value on a judged step, or equals another run on all of them, is left out: the rule says
// so. R of them:
//   1 to 4   a band with a factor from the published spread; no rate is stated
//   5, ...   the rate max(rules.false_alarm, 1 / (R + 1)) holds for a further run that is
//            exchangeable with the replicates, whatever the distribution. No method does better
//            without assuming one; replicate_band.h says what is assumed beyond it.
// No band is narrower than a hundredth of the smallest fault or two units of the last printed
// place. O(n R).
CurveComparison CompareCurve(const CurveSeries& a, const CurveSeries& b,
                             const std::vector<CurveSeries>& replicates, const CurveRules& rules);

// Pairs by name; one comparison a name on either side: losses first, then metrics, then resources,
// each in byte order.
std::vector<CurveComparison> CompareCurves(const std::vector<CurveSeries>& a,
                                           const std::vector<CurveSeries>& b,
                                           const std::vector<std::vector<CurveSeries>>& replicates,
                                           const CurveRules& rules);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_CURVE_COMPARISON_H_
