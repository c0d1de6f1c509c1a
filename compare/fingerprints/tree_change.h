// Two orders of addition, with their arithmetic and the regions of an output if known.
//
// Role: private to probe_diff.cc and fleet.cc. Pure. Data missing on one side, as in older files,
// are not compared.
#ifndef RHARNESS_COMPARE_FINGERPRINTS_TREE_CHANGE_H_
#define RHARNESS_COMPARE_FINGERPRINTS_TREE_CHANGE_H_

#include <string>

#include "compare/fingerprints/fingerprint.h"

namespace rharness {

// The same summands in the same order, for every output that both sides describe.
bool SameOrder(const FingerprintTree& a, const FingerprintTree& b);
// SameOrder, and the same arithmetic and number of predicted inputs, as far as both sides state
// them.
bool SameTree(const FingerprintTree& a, const FingerprintTree& b);
// One side alone states its arithmetic or its regions.
bool RevealedAnew(const FingerprintTree& a, const FingerprintTree& b);

// "was 8-way strided + pairwise, is sequential"; "the same order with other arithmetic: ..."; for
// regions the first that differs.
std::string TreeChangeWords(const FingerprintTree& before, const FingerprintTree& after);
// "8-way strided + pairwise → sequential", or the words above where the names are the same.
std::string TreeChangeNames(const FingerprintTree& before, const FingerprintTree& after);

// "from 9 to 17 terms" where the widest fused addition changed its width; else empty. Two terms are
// no fused addition.
std::string WidestChange(const FingerprintTree& before, const FingerprintTree& after);

// Everything that SameTree looks at, as one text.
std::string TreeText(const FingerprintTree& tree);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FINGERPRINTS_TREE_CHANGE_H_
