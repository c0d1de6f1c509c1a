// The pictures of an onset: a step in network order, and the distance by step.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "reports/html_escape.h"
#include "reports/onset_report.h"
#include "reports/svg_axis.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr double kOnsetWidth = 900.0;
constexpr double kOnsetHeight = 92.0;
constexpr double kOnsetBase = 64.0;
constexpr std::size_t kMostOnsetCells = 300;
constexpr double kGrowthWidth = 560.0;
constexpr double kGrowthHeight = 230.0;
constexpr double kGrowthLeft = 56.0;
constexpr double kGrowthRight = 550.0;
constexpr double kGrowthTop = 14.0;
constexpr double kGrowthBottom = 190.0;
constexpr std::size_t kMostGrowthPoints = 240;

// The weightiest state of a stretch comes first.
int WeightOf(RecordState state) {
  switch (state) {
    case RecordState::kOrigin:
    case RecordState::kOnlyA:
    case RecordState::kOnlyB:
      return 3;
    case RecordState::kHandedOn:
      return 2;
    case RecordState::kUnknown:
      return 1;
    case RecordState::kEqual:
      return 0;
  }
  return 0;
}

struct StripStyle {
  std::string_view group;  // the verdict for its colour
  std::string_view mark;
  double height;
};

StripStyle StyleOf(RecordState state) {
  switch (WeightOf(state)) {
    case 3:
      return {"drifted", "new", 48.0};
    case 2:
      return {"inconclusive", "new", 30.0};
    case 1:
      return {"infra", "hu", 18.0};
    default:
      return {"identical", "h0", 18.0};
  }
}

}  // namespace

std::string SvgOnsetStrip(const Onset& onset, std::string_view id) {
  if (onset.strip.empty()) return "";
  const std::size_t cells = std::min(onset.strip.size(), kMostOnsetCells);
  const double width = kOnsetWidth / static_cast<double>(cells);
  const double gap = width > 5.0 ? 1.5 : 0.2;
  std::size_t counts[4] = {};
  for (const OnsetRecord& record : onset.strip) ++counts[WeightOf(record.state)];
  std::string out =
      SvgOpen(kOnsetWidth, kOnsetHeight, id, "The step in network order",
              fmt::format("{} equal, {} where it begins, {} handed on, {} not known. {}", counts[0],
                          counts[3], counts[2], counts[1], SafeText(onset.headline, 400)));
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const std::size_t from = cell * onset.strip.size() / cells;
    const std::size_t to = (cell + 1) * onset.strip.size() / cells;
    std::size_t shown = from;
    for (std::size_t i = from; i < to; ++i) {
      if (WeightOf(onset.strip[i].state) > WeightOf(onset.strip[shown].state)) shown = i;
    }
    const OnsetRecord& record = onset.strip[shown];
    const StripStyle style = StyleOf(record.state);
    const std::string state = SpacedName(RecordStateName(record.state));
    std::string words =
        fmt::format("{} {}: {}", TraceKindName(record.a.kind), NameOfRecord(record.a), state);
    if (!std::isnan(record.distance) && record.distance > 0.0) {
      words += fmt::format(", {} apart", FormatNumber(record.distance, 2));
    }
    out += fmt::format(
        "<g class=\"{}\"><rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" "
        "height=\"{:.1f}\"><title>{}</title></rect></g>",
        style.group, style.mark, width * static_cast<double>(cell), kOnsetBase - style.height,
        width - gap, style.height, HtmlText(words, 300));
  }
  out += fmt::format(
      "<text x=\"0\" y=\"{0:.0f}\">first</text><text x=\"{1:.0f}\" y=\"{0:.0f}\" "
      "text-anchor=\"end\">last</text>",
      kOnsetBase + 18, kOnsetWidth);
  return out + "</svg>";
}

std::string SvgOnsetGrowth(const Onset& onset, std::string_view id) {
  double low = 0.0;
  double high = 0.0;
  std::vector<double> largest;
  for (const OnsetStep& step : onset.steps) {
    double most = 0.0;
    for (const double value : {step.parameters, step.outputs, step.loss}) {
      if (!std::isfinite(value) || value <= 0.0) continue;
      low = low == 0.0 ? value : std::min(low, value);
      high = std::max(high, value);
      most = std::max(most, value);
    }
    largest.push_back(most);
  }
  if (high == 0.0) return "";
  const double last = std::ceil(std::log10(high) + 1e-12);
  const double first = std::max(std::floor(std::log10(low)), last - 18.0);
  const SvgScale y{std::pow(10.0, first), std::pow(10.0, std::max(last, first + 1.0)),
                   kGrowthBottom, kGrowthTop, true};
  const auto begin = static_cast<double>(onset.steps.front().step);
  const auto end = static_cast<double>(onset.steps.back().step);
  const SvgScale x{begin, end > begin ? end : begin + 1.0, kGrowthLeft, kGrowthRight};
  std::string out =
      SvgOpen(kGrowthWidth, kGrowthHeight, id, "How far apart by step",
              fmt::format("The largest relative distance is {}.", FormatNumber(high)));
  out += SvgValueAxis(y, kGrowthLeft, kGrowthRight) + SvgStepAxis(x, kGrowthBottom);
  const std::vector<std::size_t> drawn = ThinByLargest(largest, kMostGrowthPoints);
  const std::array<std::pair<double OnsetStep::*, std::string_view>, 3> lines = {
      {{&OnsetStep::outputs, "la"}, {&OnsetStep::parameters, "old"}, {&OnsetStep::loss, "lb"}}};
  for (const auto& [member, style] : lines) {
    std::string path;
    for (const std::size_t i : drawn) {
      const double value = onset.steps[i].*member;
      if (!std::isfinite(value)) continue;
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L",
                          x.At(static_cast<double>(onset.steps[i].step)),
                          value > 0.0 ? y.At(value) : kGrowthBottom);
    }
    if (!path.empty()) out += fmt::format("<path class=\"{}\" d=\"{}\"/>", style, path);
  }
  return out + "</svg>";
}

}  // namespace rharness
