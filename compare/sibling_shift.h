// The shifts of curves that one change moved, taken together: judges a curve that scatters too much
// alone beside its siblings.
//
// Role: private to siblings.cc but for its tests; pure. The unit is the pair, as in
// metrics/paired.h: the spread of the shifts is the yardstick for one of them.
#ifndef RHARNESS_COMPARE_SIBLING_SHIFT_H_
#define RHARNESS_COMPARE_SIBLING_SHIFT_H_

#include <cstddef>
#include <vector>

namespace rharness {

// Of two and more curves: mean relative shift and its interval, without those apart.
struct SiblingShift {
  std::size_t curves = 0;  // curves that count; 0: too few, or more than a quarter apart
  bool broken = false;     // more than a quarter is beyond a limit alone: no shift counts as small
  double mean = 0.0;
  double deviation = 0.0;  // of one curve's shift
  double low = 0.0;        // 90 % interval of the mean, which shows that it is small
  double high = 0.0;
  double surely_low = 0.0;  // 99 % interval, which shows that it is large
  double surely_high = 0.0;
  std::vector<bool> apart;  // one a shift
};

// `shifts`: relative, one per distinct curve; `beyond`: likewise, of curves that are beyond a limit
// on their own. These are apart while they are a quarter at most: more of them are no exceptions
// but the effect of the change, and count with the others. Others are apart if generalized ESD at 1
// % over all finds them and they are off by more than `margin`. At least `fewest` must remain.
SiblingShift ShareShifts(const std::vector<double>& shifts, const std::vector<bool>& beyond,
                         double margin, std::size_t fewest);

// The standing of a curve's shift beside those of its siblings:
//   kApart   it is apart
//   kWith    its siblings are shown to have moved by more than `margin`, and it moved their way
//   kAmong   they are shown to have moved by less (TOST at 5 %) and are not broken, and it moved no
//            farther than `margin` or than theirs allow (at 1 % over all), and by less than three
//            margins
//   kOpen    neither
enum class SiblingStanding { kOpen, kAmong, kWith, kApart };
SiblingStanding StandingAmongSiblings(std::size_t curve, const std::vector<double>& shifts,
                                      const SiblingShift& together, double margin);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_SIBLING_SHIFT_H_
