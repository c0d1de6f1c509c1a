// What the two halves of the replicates' pass share; private to them.
#ifndef RHARNESS_HARNESS_DRILL_REPLICATE_PARTS_H_
#define RHARNESS_HARNESS_DRILL_REPLICATE_PARTS_H_

#include <string>

#include "harness/drill/drill_report.h"

namespace rharness {

bool IsCompared(const Evidence& evidence);

// The first rerun of a run that can be compared; null where there is none.
const Evidence* FirstCompared(const RunState& run);

std::string StackOfRerun(const Evidence& evidence, const Manifest& manifest);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_REPLICATE_PARTS_H_
