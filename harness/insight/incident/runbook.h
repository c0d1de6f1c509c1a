// The runbook: a page for every code that a finding, a reason or an alert can have.
//
// Role: the pages of runbook/*.md, compiled in, so that a program and its runbook are of one
// version. reports/runbook_page.h renders them.
#ifndef RHARNESS_HARNESS_INSIGHT_INCIDENT_RUNBOOK_H_
#define RHARNESS_HARNESS_INSIGHT_INCIDENT_RUNBOOK_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "reports/runbook_page.h"

namespace rharness {

// All of them, by area and in the order of their file. Each code once.
const std::vector<RunbookPage>& RunbookPages();
// Also by another spelling: "not comparable" or "not-comparable" for not_comparable, and
// "infrastructure" for infra, as reports up to 0.1 have it. nullptr: no page has this code.
const RunbookPage* FindRunbookPage(std::string_view code);

// A file of pages: "## CODE", then one line per part, "- Means: ...", "- Check: ...", "- Causes:
// ...", "- Do: ...", "- Next: ...", in this order, each with indented continuation lines. Lines
// before the first page are for readers of the file. Errors: invalid_input with the line.
Result<std::vector<RunbookPage>> ParseRunbook(std::string_view text, std::string_view area);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_INCIDENT_RUNBOOK_H_
