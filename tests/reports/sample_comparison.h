// Comparisons for the tests, made by hand: every verdict, every part, and large and hostile ones.
#ifndef RHARNESS_TESTS_REPORTS_SAMPLE_COMPARISON_H_
#define RHARNESS_TESTS_REPORTS_SAMPLE_COMPARISON_H_

#include <string>

#include "compare/comparison.h"

namespace rharness {

// Fills counts and exit code from the verdicts, as a composition does.
void TallySample(ComparisonSet* set);

// One drifted pair with all there is: findings, causes, facts, weights, optimizer state, curves of
// every state and kind, metrics, notes; NaN and infinities among its numbers.
ComparisonSet RichComparison();
ComparisonSet IdenticalComparison();
ComparisonSet InconclusiveComparison();  // bits differ, and nothing says how far they may
ComparisonSet EmptyComparison();         // a set without a pair
// `pairs` curve pairs: 2 drifted, 5 inconclusive, 1 not comparable, 4 identical, else equivalent.
ComparisonSet PairsComparison(int pairs);
// `pairs` drifted ones with everything that the rich one has.
ComparisonSet LargeComparison(int pairs);
// The rich one, and a pair of it, with `text` in place of every string.
ComparisonSet HostileComparison(const std::string& text);
ComparisonSet HostilePairs(const std::string& text);
// One comparison with this many differing tensors, layers, curves, findings and causes.
ComparisonSet CrowdedComparison(int of_each);

}  // namespace rharness

#endif  // RHARNESS_TESTS_REPORTS_SAMPLE_COMPARISON_H_
