// Shared by the two halves of the replicates' pass; private to them.
#ifndef RHARNESS_HARNESS_DRILL_REPLICATE_PARTS_H_
#define RHARNESS_HARNESS_DRILL_REPLICATE_PARTS_H_

#include <utility>

#include "harness/drill/drill_report.h"

namespace rharness {

bool IsCompared(const Evidence& evidence);

// The first comparable rerun of a run and its number; null if there is none.
const std::pair<const int, Evidence>* FirstCompared(const RunState& run);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_REPLICATE_PARTS_H_
