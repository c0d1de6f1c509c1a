// The rules behind Explain, private to it: one function a cause.
#ifndef RHARNESS_COMPARE_EXPLAIN_RULES_H_
#define RHARNESS_COMPARE_EXPLAIN_RULES_H_

#include <vector>

#include "compare/comparison.h"

namespace rharness {

struct ExplainInput {
  const Comparison& comparison;
  const std::vector<Fact>& facts_a;
  const std::vector<Fact>& facts_b;
};

// Adds its cause when it finds evidence for it.
using ExplainRule = void (*)(const ExplainInput& in, std::vector<Cause>* out);

// What the shape of the difference says: from which step, in which tensors, how far.
const std::vector<ExplainRule>& PatternRules();

const LayerComparison& LayerOf(const Comparison& comparison, Layer layer);

// Within what further runs of the same configuration do, and more than rounding; or within what
// runs do that differ by rounding alone.
void AnotherSeed(const ExplainInput& in, std::vector<Cause>* out);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_EXPLAIN_RULES_H_
