// The pictures of a comparison, one function and one file each.
//
// Role: inline SVG with title and description; `id` is unique on the page. Positions only: every
// number shown comes from the comparison. Long curves are thinned to a few hundred drawn steps, the
// most telling one of each interval. Empty if there is nothing finite to draw.
#ifndef RHARNESS_REPORTS_SVG_PLOTS_H_
#define RHARNESS_REPORTS_SVG_PLOTS_H_

#include <string>
#include <string_view>

#include "compare/curves/curve_comparison.h"
#include "compare/metrics/decision.h"
#include "compare/weights/tensor_diff.h"
#include "reports/heat_strip.h"

namespace rharness {

// |b - a| by step on a log axis, with the band, and marks at the first difference and the first
// step beyond. Equal steps lie on the floor; steps that are not finite are crosses at the top.
// Also empty when no step differs.
std::string SvgDivergence(const CurveComparison& curve, std::string_view id);

// Both curves over each other: A a broad line, B a thin dashed one.
std::string SvgCurves(const CurveComparison& curve, std::string_view id);

// Differing pairs by distance in ULP: one bar per power of two, counts on a log axis.
std::string SvgHistogram(const UlpHistogram& histogram, std::string_view id);

// One cell per layer: shade and height by the log of its relative norm, with a legend. Readable
// without colour by height and by the title of every cell.
std::string SvgHeatStrip(const std::vector<GroupDifference>& groups, std::string_view id);

// The band as inline SVG: history and rerun values, the margin around the history mean, and the
// interval of the difference placed at that mean, over one labelled axis. Draws at most 200 points
// per lane. Values that are not finite are left out and counted in the description. Empty when
// there is no finite value to draw, or when their range is beyond a double.
std::string SvgBand(const MetricDecision& metric, std::string_view id);

// "90 %": the level of the interval that a decision carries.
std::string IntervalLevel(const MetricDecision& metric);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_SVG_PLOTS_H_
