// The direction in which one change moved curves that are all within: per-run trends of many
// siblings.
//
// Role: private to siblings.cc but for its tests; pure. A random stream (dropout, another order of
// addition) moves each run up or down by chance; a mask, a scale or another bias moves most of them
// in one direction, by less than a run alone can show.
#ifndef RHARNESS_COMPARE_SIBLING_DIRECTION_H_
#define RHARNESS_COMPARE_SIBLING_DIRECTION_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compare/curves/curve_comparison.h"

namespace rharness {

// One run's trend over all aligned steps that are finite on both sides. Both 0 if there is none.
struct RunTrend {
  double relative = 0.0;      // mean difference as a share of the mean |a| (of a spread: of that)
  double standardised = 0.0;  // the same in standard errors by the difference's own scatter
};
RunTrend TrendOf(const CurveComparison& curve);
// The standard error of the mean difference over [first, last], as a share of the mean |a| there,
// by the difference's own scatter from value to value. 0 if not known.
double RelativeErrorOf(const CurveComparison& curve, std::int64_t first, std::int64_t last);

struct SiblingDirection {
  std::size_t up = 0;  // by the sign of their trend
  std::size_t down = 0;
  // Two-sided signed-rank test of the standardised trends: exact if the sign of each sibling is
  // independent of the others' and either is as likely, as in an honest random stream. It needs six
  // siblings for 5 %, eight for 1 %; seven of eight in one direction give 1.6 % at best.
  double p = 1.0;
  double middle = 0.0;  // median relative trend
  // Relative: the common trend that a two-sided test at 5 % finds in four of five groups like this
  // one (Student's t on their own deviation), and at least kRoundingFloor. 0: fewer than two.
  double invisible = 0.0;
};
SiblingDirection DirectionOf(const std::vector<RunTrend>& trends);

// Noise has no direction: at this two-sided p a group grants no room, and a curve that moved with
// it by more than rounding moved any accepted upgrade is open. At most this share of the groups
// that an honest stream moved is wrongly held open.
inline constexpr double kFavoursDirection = 0.05;
// At this p the report states that the group moved one way.
inline constexpr double kOneWay = 0.01;

// Whether these siblings moved one way by more than rounding did: p at most kFavoursDirection, and
// their median beyond kRoundingFloor. Two of four accepted upgrades moved most of their pairs one
// way (56 of 57, 55 of 68), by a median of 0.001 %; no group of eight by more than 0.005 %.
bool MovedOneWay(const SiblingDirection& direction);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_SIBLING_DIRECTION_H_
