// The pieces of the HTML page, one function each; html.cc combines them.
#ifndef RHARNESS_REPORTS_HTML_PARTS_H_
#define RHARNESS_REPORTS_HTML_PARTS_H_

#include <string>
#include <string_view>

#include "reports/comparison_html_parts.h"
#include "reports/model.h"

namespace rharness {

// The expanded content of a row: the comparison, drawn as by `rharness compare`, and the reruns
// with their outputs. `id` is unique on the page. Long lists are cut, with the number of the rest.
std::string HtmlRunDetails(const ReportRun& run, std::string_view id, HtmlExtent extent);

// One metric: its band and the numbers of its decision. `bit_equal`: the run is identical, so
// nothing was left to decide.
std::string HtmlMetric(const MetricDecision& metric, bool bit_equal, std::string_view id);

// The band as inline SVG: history and rerun values, the margin around the history mean, and the
// interval of the difference placed at that mean, over one labelled axis. Draws at most 200 points
// per lane. Values that are not finite are left out and counted in the description. Empty when
// there is no finite value to draw, or when their range is beyond a double.
std::string SvgBand(const MetricDecision& metric, std::string_view id);

// "90 %": the level of the interval that a decision carries.
std::string IntervalLevel(const MetricDecision& metric);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_HTML_PARTS_H_
