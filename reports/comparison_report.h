// Comparisons as reports: terminal, JSON, HTML, JUnit, Markdown.
//
// Role: the writers of a ComparisonSet; all numbers come from it; only positions in plots are
// computed here. JSON is "rharness.comparison/v1" and reads back completely, so `rharness report`
// renders it again.
#ifndef RHARNESS_REPORTS_COMPARISON_REPORT_H_
#define RHARNESS_REPORTS_COMPARISON_REPORT_H_

#include <string>
#include <string_view>

#include "compare/comparison.h"
#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

inline constexpr int kComparisonVersion = 1;

// One comparison is an object {"schema", "verdict", "findings", "causes", ...}; a set of pairs has
// "exit_code", "counts" and "comparisons" beside the schema. Both are the same schema.
Json ToJson(const ComparisonSet& set);
Result<ComparisonSet> ParseComparisonSet(const Json& json, std::string_view file);

// One screen: at most `rows` lines of at most `columns` characters; counts the lines left out.
std::string WriteTerminal(const ComparisonSet& set, int columns, int rows, bool color);
// A self-contained page with plots: divergence on a log axis, ULP histogram, heat strip of layers,
// metric bands.
std::string WriteHtml(const ComparisonSet& set);
std::string WriteJunit(const ComparisonSet& set);
std::string WriteMarkdown(const ComparisonSet& set);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_COMPARISON_REPORT_H_
