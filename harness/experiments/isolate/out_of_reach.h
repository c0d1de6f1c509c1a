// Differences of two records that are no part of a search: facts that no setting reaches, and seeds
// that make another run of the family.
//
// Role: pure; a part of axes.h. Each becomes an axis with the reason why it cannot be set, so that
// the report names it.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_OUT_OF_REACH_H_
#define RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_OUT_OF_REACH_H_

#include <string>
#include <vector>

#include "harness/experiments/isolate/axes.h"

namespace rharness {

// Adds facts that no axis sets. Consequences of other differences (mapped libraries, flags in
// force) are added only if nothing else differs.
void AddOutOfReach(const Manifest& recorded, const Manifest& drifted, std::vector<Axis>* axes);

// For two runs of one family: marks the arguments, variables and facts that are their seeds. Runs
// of a family differ in these on purpose, so that they explain no drift.
void SetSeedsAside(const Manifest& recorded, const Manifest& drifted, std::vector<Axis>* axes);

// "input /lib/kernel.py 64f607cdd56b… -> 8f63796f9a8c…" for those that cannot be set, seeds of the
// family last, at most three; then the number of the rest. Empty: all can be set.
std::string OutOfReachWords(const std::vector<Axis>& axes);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ISOLATE_OUT_OF_REACH_H_
