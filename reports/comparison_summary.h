// The summary of a comparison: the answer, the next step, the order of the pairs.
//
// Role: pure, from a ComparisonSet; every writer that opens with an answer takes it from here, so
// that page, step summary and terminal never disagree. Texts have passed SafeText.
#ifndef RHARNESS_REPORTS_COMPARISON_SUMMARY_H_
#define RHARNESS_REPORTS_COMPARISON_SUMMARY_H_

#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"

namespace rharness {

// One comparison without a name, as by `rharness compare A B`; anything else is a set.
bool IsSingle(const ComparisonSet& set);

// A cause that several pairs share.
struct SharedCause {
  std::string code;
  Layer layer = Layer::kData;
  Strength strength = Strength::kPossible;  // of the first pair with it
  std::string statement;                    // of the first pair with it
  int pairs = 0;                            // not reproduced, with this cause among theirs
};

struct ComparisonSummary {
  std::string answer;     // "2 of 95 pairs drifted.", or the headline of a single comparison
  std::string next_step;  // one sentence, for people
  std::vector<const Comparison*> order;  // worst first, else as in the set
  std::vector<SharedCause> causes;       // of a set: at most 8, by pairs
  int open = 0;                          // pairs that did not reproduce
};

// `set` must outlive the result.
ComparisonSummary Summarize(const ComparisonSet& set);

// The next step for one comparison, one sentence.
std::string NextStep(const Comparison& comparison);
// Whether the finding reports other bytes of an output that no reader opens.
bool IsOfFile(const Finding& finding, const Comparison& comparison);
// The pair's name, made safe; "pair" and its number without one.
std::string PairName(const Comparison& comparison, std::size_t place);
// "148 tensors bit-equal; lm loss beyond its band", a pair's cell in a table.
std::string ComparedInShort(const Comparison& comparison);
// The first differing step of a deciding curve; "–" for none.
std::string FirstStep(const Comparison& comparison);
// The largest distance in ULP over all weights; "–" if none was measured.
std::string LargestUlp(const Comparison& comparison);
// Curves, deciding and most different ones first; metrics alike, primary first.
std::vector<const CurveComparison*> OrderedCurves(const Comparison& comparison);
std::vector<const MetricDecision*> OrderedMetrics(const Comparison& comparison);
// The layers that differ: identity facts before class facts before context, then in their order.
std::vector<const LayerComparison*> DifferingLayers(const Comparison& comparison);
// Whether the `confirm` of a cause is a command to copy, and not a sentence. No sentence begins
// with one of the programs: "run `rharness hash DATA` on both machines".
bool IsCommand(std::string_view confirm);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_COMPARISON_SUMMARY_H_
