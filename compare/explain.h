// Why do they differ? Ranked causes, each with its evidence and the command that confirms it.
//
// Role: pure; reads a judged comparison and adds `causes`. A table of rules, one function a cause.
// Not here: any new measurement; a cause never changes a verdict.
#ifndef RHARNESS_COMPARE_EXPLAIN_H_
#define RHARNESS_COMPARE_EXPLAIN_H_

#include <vector>

#include "compare/comparison.h"

namespace rharness {

// Most suspicious first: what is shown by a hash or by the bits before what a pattern makes likely
// before what is merely possible; within one strength in the order of the layers. Empty for an
// identical pair. `facts_a`, `facts_b`: all that is known of each side, the equal facts included: a
// determinism flag that is off on both sides is a cause as well.
std::vector<Cause> Explain(const Comparison& comparison, const std::vector<Fact>& facts_a,
                           const std::vector<Fact>& facts_b);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_EXPLAIN_H_
