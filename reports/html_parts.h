// The pieces of the HTML page, one function each; html.cc combines them.
#ifndef RHARNESS_REPORTS_HTML_PARTS_H_
#define RHARNESS_REPORTS_HTML_PARTS_H_

#include <string>
#include <string_view>

#include "reports/model.h"

namespace rharness {

// The expanded content of a row: the comparison, drawn as by `rharness compare`, and the reruns
// with their outputs. `id` is unique on the page. Long lists are cut, with the number of the rest.
std::string HtmlRunDetails(const ReportRun& run, std::string_view id, bool in_full);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_HTML_PARTS_H_
