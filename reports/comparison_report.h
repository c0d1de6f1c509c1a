// Comparisons as reports: JSON, and a document for all other formats.
//
// Role: all numbers come from the ComparisonSet; only positions in plots are computed here. JSON
// is "rharness.comparison/v1" and reads back completely, so `rharness report`
// renders it again.
#ifndef RHARNESS_REPORTS_COMPARISON_REPORT_H_
#define RHARNESS_REPORTS_COMPARISON_REPORT_H_

#include <string>
#include <string_view>

#include "compare/comparison.h"
#include "harness/base/json.h"
#include "harness/base/result.h"
#include "reports/document.h"

namespace rharness {

inline constexpr int kComparisonVersion = 1;

// One comparison is an object {"schema", "verdict", "findings", "causes", ...}; a set of pairs has
// "exit_code", "counts" and "comparisons" beside the schema. Both are the same schema.
Json ToJson(const ComparisonSet& set);
Result<ComparisonSet> ParseComparisonSet(const Json& json, std::string_view file);

// `set` must outlive the document, whose rows make what is inside them when it is needed.
Document DocumentOf(const ComparisonSet& set);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_COMPARISON_REPORT_H_
