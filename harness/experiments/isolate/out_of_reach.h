// What differs between two records and is no part of a search: facts that no setting reaches, and
// seeds that make another run of the family.
//
// Role: pure; a part of axes.h. Each becomes an axis with the reason why it cannot be set, so that
// it is named.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_OUT_OF_REACH_H_
#define RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_OUT_OF_REACH_H_

#include <string>
#include <vector>

#include "harness/experiments/isolate/axes.h"

namespace rharness {

// Adds facts that no axis sets. What follows from other things (libraries that are mapped, flags in
// force) is added only where nothing else differs.
void AddOutOfReach(const Manifest& recorded, const Manifest& drifted, std::vector<Axis>* axes);

// Of two runs of one family: marks the arguments, variables and facts that are their seeds. Runs of
// a family differ in these on purpose, so that they explain no drift.
void SetSeedsAside(const Manifest& recorded, const Manifest& drifted, std::vector<Axis>* axes);

// "input /lib/kernel.py 64f607cdd56b… -> 8f63796f9a8c…" of those that cannot be set, what is no
// seed of the family first, at most three; then how many more. Empty: all can be set.
std::string OutOfReachWords(const std::vector<Axis>& axes);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_OUT_OF_REACH_H_
