// Two curves over each other; see svg_plots.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/svg_axis.h"
#include "reports/svg_plots.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr double kCurvesWidth = 560.0;
constexpr double kCurvesHeight = 244.0;
constexpr double kCurvesLeft = 52.0;
constexpr double kCurvesRight = 550.0;
constexpr double kCurvesTop = 26.0;
constexpr double kCurvesBottom = 204.0;
constexpr std::size_t kMostStretches = 120;  // of one line, two drawn steps each

// The lowest and the highest of each stretch, so that no spike is lost.
std::vector<std::size_t> Thinned(const std::vector<double>& values) {
  std::vector<std::size_t> all(values.size());
  if (values.size() <= 2 * kMostStretches) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
  }
  std::vector<double> negated;
  negated.reserve(values.size());
  for (const double value : values) negated.push_back(-value);
  const std::vector<std::size_t> high = ThinByLargest(values, kMostStretches);
  const std::vector<std::size_t> low = ThinByLargest(negated, kMostStretches);
  std::vector<std::size_t> kept;
  std::set_union(high.begin(), high.end(), low.begin(), low.end(), std::back_inserter(kept));
  return kept;
}

std::string Line(const std::vector<std::int64_t>& steps, const std::vector<double>& values,
                 const SvgScale& x, const SvgScale& y, std::string_view style) {
  std::string line;
  std::string crosses;
  bool joined = false;
  for (const std::size_t i : Thinned(values)) {
    const double at = x.At(static_cast<double>(steps[i]));
    if (!std::isfinite(values[i])) {
      crosses += fmt::format("M{:.1f} {:.0f}l6 6m0 -6l-6 6", at - 3, kCurvesTop - 3);
      joined = false;
      continue;
    }
    line += fmt::format("{}{:.1f} {:.1f}{}", joined ? "L" : "M", at, y.At(values[i]),
                        joined ? "" : "h.1");
    joined = true;
  }
  std::string out = fmt::format("<path class=\"{}\" d=\"{}\"/>", style, line);
  if (!crosses.empty()) out += fmt::format("<path class=\"cross\" d=\"{}\"/>", crosses);
  return out;
}

std::string Legend() {
  return fmt::format(
      "<path class=\"la\" d=\"M{0:.0f} 11h24\"/><text x=\"{1:.0f}\" y=\"15\">A</text>"
      "<path class=\"lb\" d=\"M{2:.0f} 11h24\"/><text x=\"{3:.0f}\" y=\"15\">B</text>",
      kCurvesLeft, kCurvesLeft + 29, kCurvesLeft + 52, kCurvesLeft + 81);
}

SvgScale ValueScale(const CurveComparison& curve, std::size_t n) {
  double low = INFINITY;
  double high = -INFINITY;
  for (std::size_t i = 0; i < n; ++i) {
    for (const double value : {curve.a[i], curve.b[i]}) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  double room = (high - low) * 0.05;
  // A constant curve would make a range of nothing; any visible one will do.
  if (room == 0.0) room = std::max(std::fabs(low) * 0.01, 1e-9);
  return {low - room, high + room, kCurvesBottom, kCurvesTop};
}

}  // namespace

std::string SvgCurves(const CurveComparison& curve, std::string_view id) {
  const std::size_t n = std::min({curve.steps.size(), curve.a.size(), curve.b.size()});
  if (n == 0) return "";
  const SvgScale y = ValueScale(curve, n);
  const auto first = static_cast<double>(curve.steps.front());
  const auto last = static_cast<double>(curve.steps[n - 1]);
  const SvgScale x = {first, last > first ? last : first + 1.0, kCurvesLeft, kCurvesRight};
  if (!y.Usable() || !x.Usable()) return "";
  std::string out =
      SvgOpen(kCurvesWidth, kCurvesHeight, id, SafeText(curve.name, 200) + ": A and B by step",
              fmt::format("{} from {} to {}; A goes from {} to {}, B from {} to {}.",
                          Counted(n, "aligned step"), curve.steps.front(), curve.steps[n - 1],
                          FormatNumber(curve.a.front()), FormatNumber(curve.a[n - 1]),
                          FormatNumber(curve.b.front()), FormatNumber(curve.b[n - 1])));
  out += SvgValueAxis(y, kCurvesLeft, kCurvesRight);
  out += SvgStepAxis(x, kCurvesBottom);
  const auto end = static_cast<std::ptrdiff_t>(n);
  out += Line(curve.steps, {curve.a.begin(), curve.a.begin() + end}, x, y, "la");
  out += Line(curve.steps, {curve.b.begin(), curve.b.begin() + end}, x, y, "lb");
  return out + Legend() + "</svg>";
}

}  // namespace rharness
