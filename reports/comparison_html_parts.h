// The pieces of a comparison on the page, one function each.
//
// Role: private to the pages of comparisons and of drills. Ids are unique on the page by the `id`
// they start with.
#ifndef RHARNESS_REPORTS_COMPARISON_HTML_PARTS_H_
#define RHARNESS_REPORTS_COMPARISON_HTML_PARTS_H_

#include <string>
#include <string_view>

#include "compare/comparison.h"
#include "reports/words.h"

namespace rharness {

inline constexpr std::string_view kComparisonRecord = "comparison.json";

// The page's names of the two sides, and the file with the data that the page leaves out.
struct SideWords {
  std::string_view a;
  std::string_view b;
  std::string_view record;
};
// "A" and "B" for two things, "Recorded (A)" and "Now (B)" for a run and its reruns.
SideWords WordsOf(const Comparison& comparison);

// How much of a comparison is laid out.
enum class HtmlExtent {
  kFull,   // with pictures and lists
  kBrief,  // sides, findings, causes and layers: where many pairs share a page
};

// Everything below the answer: both sides (for two things), findings, causes, layers, weights,
// curves, metrics, notes. Long lists are cut, with the number of the rest.
std::string HtmlComparison(const Comparison& comparison, std::string_view id, HtmlExtent extent);

// A badge in the colour of the state: "✗ beyond its band".
std::string HtmlStateBadge(const SubjectState& state);

// All checkpoints: numbers, ULP histogram, heat strip, differing tensors.
std::string HtmlWeights(const Comparison& comparison, std::string_view id);
// All curves in a table, and pictures of those that differ most.
std::string HtmlCurves(const Comparison& comparison, std::string_view id);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_COMPARISON_HTML_PARTS_H_
