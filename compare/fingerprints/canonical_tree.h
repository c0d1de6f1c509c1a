// Reads the canonical text of a summation tree back: "((0 1) 2)".
#ifndef RHARNESS_COMPARE_FINGERPRINTS_CANONICAL_TREE_H_
#define RHARNESS_COMPARE_FINGERPRINTS_CANONICAL_TREE_H_

#include <string_view>

#include "harness/base/result.h"
#include "probes/order/sum_tree.h"

namespace rharness {

// The tree whose Canonical() is exactly `text`. Errors: invalid_input with the byte offset, or that
// the text is not in canonical order, or longer than kLongestCanonicalBytes. Cost: linear in the
// text, no recursion.
Result<SumTree> ParseCanonicalTree(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FINGERPRINTS_CANONICAL_TREE_H_
