// One metric as a picture: the reruns against history and margin; see svg_plots.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/html_escape.h"
#include "reports/svg_axis.h"
#include "reports/svg_plots.h"
#include "reports/text.h"

namespace rharness {
namespace {

// Layout in SVG units; the picture is scaled to its column.
constexpr double kBandWidth = 480.0;
constexpr double kBandLeft = 70.0;
constexpr double kBandRight = 470.0;
constexpr double kBandTop = 8.0;
constexpr double kHistoryLane = 26.0;
constexpr double kRerunLane = 54.0;
constexpr double kIntervalLane = 80.0;
constexpr double kAxis = 98.0;
constexpr std::size_t kBandMostPoints = 200;

std::vector<double> FiniteOf(const std::vector<double>& values) {
  std::vector<double> finite;
  for (const double value : values) {
    if (std::isfinite(value)) finite.push_back(value);
  }
  return finite;
}

struct BandPicture {
  std::vector<double> history;
  std::vector<double> reruns;
  bool has_band = false;
  bool has_interval = false;
  SvgScale scale;
};

BandPicture Arrange(const MetricDecision& metric) {
  BandPicture picture;
  picture.history = FiniteOf(metric.history);
  picture.reruns = FiniteOf(metric.reruns);
  const double mean = metric.mean_history;
  std::vector<double> marks = picture.history;
  marks.insert(marks.end(), picture.reruns.begin(), picture.reruns.end());
  if (!picture.history.empty() && std::isfinite(mean)) {
    marks.push_back(mean);
    picture.has_band = std::isfinite(metric.margin) && metric.margin > 0;
    picture.has_interval = !picture.reruns.empty() && std::isfinite(metric.ci_low) &&
                           std::isfinite(metric.ci_high) && metric.ci_low < metric.ci_high;
  }
  if (picture.has_band) marks.insert(marks.end(), {mean - metric.margin, mean + metric.margin});
  if (picture.has_interval)
    marks.insert(marks.end(), {mean + metric.ci_low, mean + metric.ci_high});
  if (marks.empty()) return picture;
  const auto [low, high] = std::minmax_element(marks.begin(), marks.end());
  double room = (*high - *low) * 0.06;
  // Equal values would make a range of nothing; any visible one will do.
  if (room == 0.0) room = std::max(std::fabs(*low) * 0.01, 1e-9);
  picture.scale = SvgScale{*low - room, *high + room, kBandLeft, kBandRight};
  return picture;
}

std::string Axis(const SvgScale& scale, std::string_view unit) {
  std::string out = fmt::format("<path class=\"axis\" d=\"M{:.0f} {:.0f}H{:.0f}\"/>", kBandLeft,
                                kAxis, kBandRight);
  const double step = NiceStep(scale.high - scale.low);
  const double first = std::ceil(scale.low / step);
  for (int i = 0; i < 8; ++i) {
    const double value = (first + i) * step;
    if (!(value <= scale.high)) break;
    const double x = scale.At(value);
    out += fmt::format(
        "<path class=\"axis\" d=\"M{0:.1f} {1:.0f}v4\"/><text x=\"{0:.1f}\" y=\"{2:.0f}\" "
        "text-anchor=\"middle\">{3}</text>",
        x, kAxis, kAxis + 17, TickLabel(value, step));
  }
  if (!unit.empty()) {
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>",
                       (kBandLeft + kBandRight) / 2, kAxis + 33, HtmlText(unit, 60));
  }
  return out;
}

std::string Band(const MetricDecision& metric, const BandPicture& picture) {
  const double mean = picture.scale.At(metric.mean_history);
  std::string out;
  if (picture.has_band) {
    const double low = picture.scale.At(metric.mean_history - metric.margin);
    const double high = picture.scale.At(metric.mean_history + metric.margin);
    out += fmt::format(
        "<rect class=\"band\" x=\"{0:.1f}\" y=\"{1:.0f}\" width=\"{2:.1f}\" height=\"{3:.0f}\"/>"
        "<path class=\"edge\" d=\"M{0:.1f} {1:.0f}v{3:.0f}M{4:.1f} {1:.0f}v{3:.0f}\"/>",
        low, kBandTop, high - low, kAxis - kBandTop, high);
  }
  if (!picture.history.empty() && std::isfinite(mean)) {
    out += fmt::format("<path class=\"mean\" d=\"M{:.1f} {:.0f}V{:.0f}\"/>", mean, kBandTop, kAxis);
  }
  return out;
}

// Neighbours are set apart a little in height, so that equal values stay countable.
double LaneY(double lane, std::size_t i) { return lane + (static_cast<double>(i % 3) - 1.0) * 4.0; }

std::string Points(const BandPicture& picture) {
  std::string out;
  for (std::size_t i = 0; i < std::min(picture.history.size(), kBandMostPoints); ++i) {
    out += fmt::format("<circle class=\"old\" cx=\"{:.1f}\" cy=\"{:.0f}\" r=\"4\"/>",
                       picture.scale.At(picture.history[i]), LaneY(kHistoryLane, i));
  }
  for (std::size_t i = 0; i < std::min(picture.reruns.size(), kBandMostPoints); ++i) {
    out += fmt::format("<path class=\"new\" d=\"M{:.1f} {:.0f}l6 6l-6 6l-6 -6z\"/>",
                       picture.scale.At(picture.reruns[i]), LaneY(kRerunLane, i) - 6.0);
  }
  return out;
}

std::string Interval(const MetricDecision& metric, const BandPicture& picture) {
  if (!picture.has_interval) return "";
  const double low = picture.scale.At(metric.mean_history + metric.ci_low);
  const double high = picture.scale.At(metric.mean_history + metric.ci_high);
  const double middle = picture.scale.At(metric.mean_history + metric.difference);
  return fmt::format(
      "<path class=\"ci\" d=\"M{0:.1f} {2:.0f}v10M{0:.1f} {3:.0f}H{1:.1f}M{1:.1f} {2:.0f}v10"
      "M{4:.1f} {5:.0f}v6\"/>",
      low, high, kIntervalLane - 5, kIntervalLane, middle, kIntervalLane - 3);
}

std::string LaneLabels(const MetricDecision& metric, const BandPicture& picture) {
  const auto label = [](double y, std::string_view text) {
    return fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>",
                       kBandLeft - 10, y + 4, text);
  };
  std::string out = label(kHistoryLane, "history") + label(kRerunLane, "reruns");
  if (picture.has_interval) out += label(kIntervalLane, IntervalLevel(metric));
  return out;
}

std::string RangeWords(std::string_view what, const std::vector<double>& finite, std::size_t all) {
  std::string words = Counted(all, what);
  if (!finite.empty()) {
    const auto [low, high] = std::minmax_element(finite.begin(), finite.end());
    words += fmt::format(" from {} to {}", FormatNumber(*low), FormatNumber(*high));
  }
  if (finite.size() < all) words += fmt::format(", {} of them not finite", all - finite.size());
  return words;
}

std::string Description(const MetricDecision& metric, const BandPicture& picture) {
  std::string words =
      fmt::format("{}; {}.", RangeWords("recorded value", picture.history, metric.history.size()),
                  RangeWords("rerun value", picture.reruns, metric.reruns.size()));
  if (picture.has_band) {
    words += fmt::format(" Margin from {} to {} around the recorded mean {}.",
                         FormatNumber(metric.mean_history - metric.margin),
                         FormatNumber(metric.mean_history + metric.margin),
                         FormatNumber(metric.mean_history));
  }
  if (picture.has_interval) {
    words += fmt::format(" {} interval of the rerun mean from {} to {}.", IntervalLevel(metric),
                         FormatNumber(metric.mean_history + metric.ci_low),
                         FormatNumber(metric.mean_history + metric.ci_high));
  }
  return words;
}

}  // namespace

std::string IntervalLevel(const MetricDecision& metric) {
  return fmt::format("{:.3g} %", 100.0 * (1.0 - 2.0 * metric.alpha_equivalence));
}

std::string SvgBand(const MetricDecision& metric, std::string_view id) {
  const BandPicture picture = Arrange(metric);
  if (picture.history.empty() && picture.reruns.empty()) return "";
  if (!picture.scale.Usable()) return "";
  const double height = kAxis + (metric.unit.empty() ? 22.0 : 39.0);
  std::string out =
      SvgOpen(kBandWidth, height, id, SafeText(metric.name, 200) + ": reruns against history",
              Description(metric, picture));
  out += Band(metric, picture);
  out += Axis(picture.scale, metric.unit);
  out += LaneLabels(metric, picture);
  out += Points(picture);
  out += Interval(metric, picture);
  return out + "</svg>";
}

}  // namespace rharness
