// Compares two curves of one metric: equal, within the distance of two such runs, or beyond?
//
// Role: pure, from series to a comparison with the band it used. The bases, strongest first:
//   bits        every aligned value is equal
//   replicates  further runs of the same thing (or a run with one ULP planted) show the distance of
//               such runs at each part of the curve
//   rounding    of a rerun: runs of any seed that differ by rounding alone
//   upgrades    a training loss on the same batches, compared with the effect of accepted upgrades:
//               by rounding, or by another stream of random numbers, which has no direction
//   margin      any other loss: the declared margin, or 1 %, by equivalence
// Without a basis nothing is claimed. An uninformative curve is vacuous and never passes.
// "Relative" means a share of |a|; for a curve that crosses 0, and so has no size, a share of the
// spread of a's values.
#ifndef RHARNESS_COMPARE_CURVES_CURVE_COMPARISON_H_
#define RHARNESS_COMPARE_CURVES_CURVE_COMPARISON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/curves/series.h"
#include "compare/curves/upgrade_record.h"

namespace rharness {

enum class CurveState {
  kIdentical,  // every aligned value equal bit for bit
  kWithin,     // differs, and stays within its basis
  kBeyond,     // differs by more
  kUndecided,  // differs, and no basis says how far such runs may
  kVacuous,    // the curve is uninformative: see vacuity
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
  std::string basis;  // "bits", "replicates", "rounding", "upgrades", "margin" or "none"
  // The aligned steps with both values, the limit on |b - middle| (empty without a band) and the
  // middle (the mean of the runs; empty: a).
  std::vector<std::int64_t> steps;
  std::vector<double> a;
  std::vector<double> b;
  std::vector<double> band;
  std::vector<double> middle;
  std::uint64_t only_a = 0;  // steps on one side only
  std::uint64_t only_b = 0;
  // One side alone has further steps, and the common ones cover the range of both logs at a regular
  // stride: one side logged every fifth step, say. The common steps decide.
  bool subsampled = false;
  std::uint64_t differing = 0;                   // aligned steps whose bits differ
  std::optional<std::int64_t> first_difference;  // step: bits
  std::optional<std::int64_t> first_beyond;      // first step that is seen beyond its limit
  std::optional<std::int64_t> first_non_finite;  // step: finite in a, not finite in b
  double max_abs = 0.0;                          // over steps finite on both sides
  double max_rel = 0.0;                          // |b - a| / |a|
  std::int64_t max_step = 0;                     // where max_rel is
  double statistic = 0.0;                        // largest share of a limit; beyond if above 1
  double false_alarm = 0.0;  // stated probability that a further run ends beyond; 0: not stated
  // Of a loss that differs: the nature of the difference, the mean relative difference where it is
  // largest, with the steps of that mean, and the share of its steps by which b is ahead of a.
  DifferenceNature nature = DifferenceNature::kNone;
  double shift = 0.0;
  std::int64_t shift_first = 0;
  std::int64_t shift_last = 0;
  double progress = 0.0;
  // Of an undecided loss that scatters too much to be judged alone, relative: the shift that
  // matters. Siblings may decide it (siblings.h). 0: does not apply. Not kept in reports.
  double open_margin = 0.0;
  // Of a curve that crosses 0: the spread of a's values, in place of |a|. 0: it does not cross 0.
  // Not kept in reports.
  double spread = 0.0;
  // Relative, of a curve that is within: a lasting shift below this would not show. 0: not known.
  // Not kept in reports; the message says it.
  double invisible = 0.0;
  // B's log ends here and A's goes on: the last step at which any of B's curves is finite.
  std::optional<std::int64_t> stopped_after;
  std::string rule;     // the rule that decided, in words with its numbers
  std::string message;  // one sentence for people

  // One log misses steps of the other, and not by its interval alone: an end, a part.
  bool MissesSteps() const { return only_a + only_b > 0 && !subsampled; }
};

struct CurveRules {
  // For one curve; for curves that are no losses and have further runs, for all of them together.
  double false_alarm = 0.01;
  double smallest_fault = 5e-3;  // relative; a curve that cannot show it is vacuous
  int min_steps = 5;             // aligned steps, finite on both sides
  // A band of replicates wider than this share of the curve's typical size, in its last quarter or
  // on half of the values, shows nothing by holding: a curve within it is undecided.
  double widest_band = 0.05;
  // For a loss, relative: the margin if there is no band.
  double margin = 0.01;
  bool margin_declared = false;
  PairLimits limits;
  double score_limit = ScoreLimit({kPublishedUpgrades.begin(), kPublishedUpgrades.end()});
};

// `replicates`: further curves of the same metric from runs of the same configuration as `a`, or
// from a run with one ULP planted. A replicate that has no finite value on a judged step, is
// constant, or equals another run or `b` on all of them, is left out: the rule says so. With fewer
// than three a curve that leaves their band is undecided; with three or more the stated rate is
// rules.false_alarm, on average over runs like those of the record (replicate_band.h). No band is
// narrower than a hundredth of the smallest fault or the last printed place. A curve that differs
// and is not finite in `a` alone on some step is at best undecided. O(n R).
CurveComparison CompareCurve(const CurveSeries& a, const CurveSeries& b,
                             const std::vector<CurveSeries>& replicates, const CurveRules& rules);

// Runs that differ from each other by rounding alone, and so measure its effect: the smallest
// change planted, or nondeterminism left on. Groups of runs of one seed on one stack; for each
// run its curves. Groups may differ from A and from each other in seed and stack.
struct RoundingRuns {
  std::vector<std::vector<std::vector<CurveSeries>>> groups;
  std::string source;  // what they are: "3 replicates made on this stack on 2026-11-20"
};

// Pairs by name; one comparison per name on either side: losses first, then metrics, then
// resources, each in byte order. If every curve of b, times and memory included, stops being finite
// before the end of a's log, b's log has stopped: that is undecided, and no overflow.
std::vector<CurveComparison> CompareCurves(const std::vector<CurveSeries>& a,
                                           const std::vector<CurveSeries>& b,
                                           const std::vector<std::vector<CurveSeries>>& replicates,
                                           const CurveRules& rules);
// The same, where B repeats A with its seed on another stack or the same: a differing curve is
// judged by the distance of two such runs by rounding alone (rounding_spread.h), if these have
// three degrees of freedom (differing runs, minus one per group); else as without.
std::vector<CurveComparison> CompareRerunCurves(const std::vector<CurveSeries>& a,
                                                const std::vector<CurveSeries>& b,
                                                const RoundingRuns& rounding,
                                                const CurveRules& rules);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_CURVE_COMPARISON_H_
