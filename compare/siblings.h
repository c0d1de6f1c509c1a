// Pairs that one change made, judged together: how far did it move its own, and which way?
//
// Role: between the curves of single pairs and the ladder. A pair alone is judged beside the
// upgrades of a published record; its siblings know this one. Pure.
#ifndef RHARNESS_COMPARE_SIBLINGS_H_
#define RHARNESS_COMPARE_SIBLINGS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "compare/comparison.h"

namespace rharness {

// What the training losses of some pairs say together. Copies (the same values on both sides) count
// once.
struct SiblingGroup {
  std::string name;  // what their names share before the first "__" or '/'; "": all pairs
  std::size_t pairs = 0;
  std::size_t up = 0;  // shifted up, and down
  std::size_t down = 0;
  double middle = 0.0;        // median share of the limit
  double middle_shift = 0.0;  // median relative shift
};

// At least this many distinct pairs make a group; fewer are judged with all pairs.
inline constexpr std::size_t kFewestSiblings = 8;

// How much wider the limits of this group are than those of the record: 1 where its middle is no
// more than twice the largest of the record's upgrades, 0.35 of the limit; above it in proportion,
// 3 at most; and 1 where its shifts favour a direction (two-sided sign test at 5 %), because noise
// has none.
double RoomOf(const SiblingGroup& group);

// `comparisons`: gathered and not judged. Of losses that stand beyond a limit in size and shape of
// a stream of random numbers (a shift, a single value), those that stay within the room of their
// group are within, and say so. Adds findings that decide nothing: "stands_out", of a pair that
// moved eight times as far as the middle of its group. Returns notes on the set: that it moved one
// way (two-sided sign test at 1e-4, of eight pairs or more).
std::vector<std::string> JudgeSiblings(const std::vector<Comparison*>& comparisons);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_SIBLINGS_H_
