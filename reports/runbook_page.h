// A page of the runbook: the meaning of a finding's code and the remedy, as Markdown and as HTML.
//
// Role: layout only; harness/insight/incident has the pages and their content.
#ifndef RHARNESS_REPORTS_RUNBOOK_PAGE_H_
#define RHARNESS_REPORTS_RUNBOOK_PAGE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/json.h"

namespace rharness {

struct RunbookPage {
  std::string code;  // "determinism_violation", "RharnessBudgetBurning"
  std::string area;  // its file: "verdict", "gate", "record", "alert", ...
  // "Means", "Check", "Causes", "Do", "Next", in this order; text with `code` in backticks.
  std::vector<std::pair<std::string, std::string>> parts;
};

// What it means, up to its first full stop.
std::string RunbookTitle(const RunbookPage& page);

std::string WriteMarkdown(const RunbookPage& page, std::string_view version);
Json ToJson(const std::vector<RunbookPage>& pages, std::string_view version);
// `back`: the text of a link to the page at "../index.html"; empty: none.
std::string WriteHtml(const RunbookPage& page, std::string_view version, std::string_view back);
// All of them, by area, each linked to "CODE/index.html".
std::string WriteRunbookIndex(const std::vector<RunbookPage>& pages, std::string_view version);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_RUNBOOK_PAGE_H_
