// The distance of two curves, step by step; see svg_plots.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/svg_axis.h"
#include "reports/svg_plots.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr double kDivergenceWidth = 560.0;
constexpr double kDivergenceHeight = 244.0;
constexpr double kDivergenceLeft = 52.0;
constexpr double kDivergenceRight = 550.0;
constexpr double kDivergenceTop = 44.0;
constexpr double kDivergenceBottom = 190.0;  // of the log axis
constexpr double kFloor = 204.0;             // where equal steps lie
constexpr std::size_t kDivergenceMostPoints = 240;
constexpr double kMostDecades = 16.0;  // of doubles, below which all is rounding

struct DivergencePicture {
  std::vector<double> distance;  // by aligned step; NaN: not finite on one side
  std::vector<std::size_t> drawn;
  SvgScale x;
  SvgScale y;
  bool has_band = false;
};

// Whole decades around the values above zero.
SvgScale LogScale(double low, double high) {
  const double last = std::ceil(std::log10(high) + 1e-12);
  const double first = std::max(std::floor(std::log10(low)), last - kMostDecades);
  return {std::pow(10.0, first), std::pow(10.0, std::max(last, first + 1.0)), kDivergenceBottom,
          kDivergenceTop, true};
}

DivergencePicture Arrange(const CurveComparison& curve) {
  DivergencePicture picture;
  const std::size_t n = std::min({curve.steps.size(), curve.a.size(), curve.b.size()});
  picture.has_band = n > 0 && curve.band.size() >= n;
  double low = 0.0;
  double high = 0.0;
  const auto take = [&](double value) {
    if (!std::isfinite(value) || value <= 0.0) return;
    low = low == 0.0 ? value : std::min(low, value);
    high = std::max(high, value);
  };
  for (std::size_t i = 0; i < n; ++i) {
    const bool around = curve.middle.size() >= n && std::isfinite(curve.middle[i]);
    const double distance = std::fabs(curve.b[i] - (around ? curve.middle[i] : curve.a[i]));
    picture.distance.push_back(std::isfinite(distance) ? distance : std::nan(""));
    take(distance);
    if (picture.has_band) take(curve.band[i]);
  }
  picture.drawn = ThinByLargest(picture.distance, kDivergenceMostPoints);
  if (high == 0.0) return picture;
  picture.y = LogScale(low, high);
  const auto first = static_cast<double>(curve.steps.front());
  const auto last = static_cast<double>(curve.steps[n - 1]);
  picture.x = {first, last > first ? last : first + 1.0, kDivergenceLeft, kDivergenceRight};
  return picture;
}

std::string Band(const CurveComparison& curve, const DivergencePicture& picture) {
  if (!picture.has_band) return "";
  std::string edge;
  double last_x = kDivergenceLeft;
  for (const std::size_t i : picture.drawn) {
    const double limit = curve.band[i];
    if (std::isnan(limit)) continue;
    const double y = limit > 0.0 ? picture.y.At(std::min(limit, picture.y.high)) : kFloor;
    last_x = picture.x.At(static_cast<double>(curve.steps[i]));
    edge += fmt::format("{}{:.1f} {:.1f}", edge.empty() ? "" : "L", last_x, y);
  }
  if (edge.empty()) return "";
  const double first_x = picture.x.At(static_cast<double>(curve.steps[picture.drawn.front()]));
  return fmt::format(
      "<path class=\"band\" d=\"M{0}L{1:.1f} {2:.0f}H{3:.1f}z\"/><path class=\"edge\" "
      "fill=\"none\" d=\"M{0}\"/>",
      edge, last_x, kFloor, first_x);
}

std::string Line(const CurveComparison& curve, const DivergencePicture& picture) {
  std::string line;
  std::string crosses;
  bool joined = false;
  for (const std::size_t i : picture.drawn) {
    const double x = picture.x.At(static_cast<double>(curve.steps[i]));
    const double distance = picture.distance[i];
    if (std::isnan(distance)) {
      crosses += fmt::format("M{:.1f} {:.0f}l6 6m0 -6l-6 6", x - 3, kDivergenceTop - 3);
      joined = false;
      continue;
    }
    const double y = distance > 0.0 ? picture.y.At(distance) : kFloor;
    // A step between two that are not finite would be a line of no length.
    line += fmt::format("{}{:.1f} {:.1f}{}", joined ? "L" : "M", x, y, joined ? "" : "h.1");
    joined = true;
  }
  std::string out = fmt::format("<path class=\"gap\" d=\"{}\"/>", line);
  if (!crosses.empty()) out += fmt::format("<path class=\"cross\" d=\"{}\"/>", crosses);
  return out;
}

// A dashed line at a step, its words at the top; `row` keeps two labels apart.
std::string Mark(const DivergencePicture& picture, std::int64_t step, std::string_view words,
                 int row, std::string_view style) {
  const double x = picture.x.At(static_cast<double>(step));
  const bool left_half = x < (kDivergenceLeft + kDivergenceRight) / 2;
  const double y = 12.0 + 14.0 * row;
  return fmt::format(
      "<path class=\"mark {0}\" d=\"M{1:.1f} {2:.0f}V{3:.0f}\"/><text class=\"{0}\" x=\"{4:.1f}\" "
      "y=\"{5:.0f}\" text-anchor=\"{6}\">{7} {8}</text>",
      style, x, y - 8, kFloor, x + (left_half ? 4 : -4), y + 2, left_half ? "start" : "end", words,
      step);
}

std::string Description(const CurveComparison& curve, const DivergencePicture& picture) {
  std::string words =
      fmt::format("{} of {} differ; the largest distance is {}.", FormatCount(curve.differing),
                  Counted(picture.distance.size(), "aligned step"), FormatNumber(curve.max_abs));
  if (curve.first_difference) {
    words += fmt::format(" First difference at step {}.", *curve.first_difference);
  }
  if (curve.first_beyond) {
    words += fmt::format(" First step beyond the band: {}.", *curve.first_beyond);
  }
  if (curve.first_non_finite) {
    words += fmt::format(" Not finite in B from step {}.", *curve.first_non_finite);
  }
  words += picture.has_band ? " The shaded area is the band." : " There is no band.";
  if (picture.drawn.size() < picture.distance.size()) {
    words += fmt::format(" Drawn are {} steps, the largest distance of each stretch.",
                         FormatCount(picture.drawn.size()));
  }
  return words;
}

}  // namespace

std::string SvgDivergence(const CurveComparison& curve, std::string_view id) {
  const DivergencePicture picture = Arrange(curve);
  if (!picture.y.Usable() || !picture.y.log || curve.differing == 0) return "";
  if (!picture.x.Usable()) return "";
  std::string out = SvgOpen(kDivergenceWidth, kDivergenceHeight, id,
                            SafeText(curve.name, 200) + ": distance of B from A by step",
                            Description(curve, picture));
  out += Band(curve, picture);
  out += SvgValueAxis(picture.y, kDivergenceLeft, kDivergenceRight);
  out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">0</text>",
                     kDivergenceLeft - 6, kFloor + 4);
  out += SvgStepAxis(picture.x, kFloor);
  out += Line(curve, picture);
  if (curve.first_difference) {
    out += Mark(picture, *curve.first_difference, "first difference", 0, "first");
  }
  if (curve.first_beyond) out += Mark(picture, *curve.first_beyond, "first beyond", 1, "over");
  if (curve.first_non_finite && !curve.first_beyond) {
    out += Mark(picture, *curve.first_non_finite, "not finite in B", 1, "over");
  }
  return out + "</svg>";
}

}  // namespace rharness
