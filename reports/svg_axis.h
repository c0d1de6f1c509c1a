// Scales, ticks and frames shared by the pictures of the page.
//
// Role: positions only; no picture of its own. Pictures are SVG in units that their column scales.
#ifndef RHARNESS_REPORTS_SVG_AXIS_H_
#define RHARNESS_REPORTS_SVG_AXIS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

// The position of a value between two ends; logarithmic on request, for values above 0.
struct SvgScale {
  double low = 0.0;
  double high = 1.0;
  double from = 0.0;  // position of low
  double to = 1.0;    // position of high
  bool log = false;

  // Clamped to the ends.
  double At(double value) const;
  bool Usable() const;  // finite ends with room between them
};

// The step of 1, 2 or 5 times a power of ten that gives at most five ticks over `range` (> 0).
double NiceStep(double range);
// A tick of such an axis with the decimals of its step.
std::string TickLabel(double value, double step);
// "1e-6"
std::string DecadeLabel(int exponent);

// Ticks and labels of a horizontal axis at height y: integers for steps, values otherwise.
std::string SvgStepAxis(const SvgScale& x, double y);
// Ticks, faint lines over [left, right] and labels of a vertical axis, linear or in decades.
std::string SvgValueAxis(const SvgScale& y, double left, double right);

// "<svg ...><title>...</title><desc>...</desc>"; text is escaped here. `id` is unique on the page.
std::string SvgOpen(double width, double height, std::string_view id, std::string_view title,
                    std::string_view description);

// The points of n to draw: all up to `most`, else from each interval the one with the largest key
// (NaN first, since it must not vanish). Increasing indices; ends included.
std::vector<std::size_t> ThinByLargest(const std::vector<double>& keys, std::size_t most);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_SVG_AXIS_H_
