// Shared by the pages of a drill and of a comparison: frame, tiles, filter, tables.
//
// Role: layout only. Parameters that end in _html are markup already; all others are escaped here.
#ifndef RHARNESS_REPORTS_HTML_PAGE_H_
#define RHARNESS_REPORTS_HTML_PAGE_H_

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/facts.h"
#include "harness/verdict/verdict.h"

namespace rharness {

using VerdictCounts = std::map<std::string, int>;  // by verdict name
int CountOf(const VerdictCounts& counts, Verdict verdict);

inline constexpr std::size_t kPageBytes = 4'900'000;  // a page stays below 5 MB

// From the doctype to the end of the head, with the policy that allows nothing but the page itself.
std::string HtmlHead(std::string_view title);

struct HtmlTopParts {
  std::string_view page_class;  // the verdict whose colour the page takes
  std::string eyebrow_html;
  std::string answer;        // its first clause is the heading if the whole exceeds one line
  std::string next_html;     // empty: no next step
  std::string_view skip_id;  // where "Skip to ..." leads
  std::string_view skip_words;
};
// The start of the body with the answer, up to the opened main element.
std::string HtmlTop(const HtmlTopParts& parts);
// The end of main and of the page. `record`: the name of the machine-readable file.
std::string HtmlEnd(std::string_view version, std::string_view record, bool script);

// One tile per verdict; those with a count link to the element "first-VERDICT".
std::string HtmlTiles(const VerdictCounts& counts);
std::string HtmlNotes(const std::vector<std::string>& notes);
// The filter above a table of class "runs"; hidden until the script shows it.
std::string HtmlFilter(std::string_view label, const VerdictCounts& counts);
// One pair of a list of class "facts".
std::string HtmlFact(std::string_view name, const std::string& value_html);

// "<span class=b>✗ drifted</span>"; its colour is that of the nearest verdict class around it.
std::string HtmlBadge(Verdict verdict);
// Words as short marks: "=data ≠env ?rng".
std::string HtmlMarks(std::string_view words);

// A table under a heading that scrolls by itself on a narrow screen, or, with the class "stack",
// stacks its cells there.
std::string HtmlTable(std::string_view title, std::string_view head_html, const std::string& rows,
                      std::string_view table_class = "plain");
// The head of a column: a name; number columns are right-aligned like their numbers.
struct HtmlColumn {
  HtmlColumn(const char* of) : name(of) {}
  HtmlColumn(std::string_view of) : name(of) {}
  std::string_view name;
  bool numbers = false;
};
HtmlColumn Numbers(std::string_view name);
std::string HtmlHeads(const std::vector<HtmlColumn>& columns);
// "12 more are in report.json."; empty when all are shown.
std::string HtmlLeftOut(std::size_t all, std::size_t shown, std::string_view record);
// In a code element; empty for empty text.
std::string HtmlCode(std::string_view text, std::size_t limit_bytes = 600);
// A value of a fact; "absent" in words when there is none.
std::string HtmlFactValue(const std::optional<std::string>& value);
// "environment: differs (14 compared, 2 not observed)"
std::string LayerWords(const LayerComparison& layer);
}  // namespace rharness

#endif  // RHARNESS_REPORTS_HTML_PAGE_H_
