// How far each layer moved, as shaded cells; see svg_plots.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/html_escape.h"
#include "reports/svg_axis.h"
#include "reports/svg_plots.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr double kStripWidth = 560.0;
constexpr double kStripHeight = 124.0;
constexpr double kStripLeft = 10.0;
constexpr double kStripRight = 550.0;
constexpr double kStripTop = 8.0;
constexpr double kBase = 62.0;  // foot of the cells
constexpr double kFlat = 6.0;   // height of a cell without a level
constexpr double kLegendTop = 92.0;
constexpr double kLegendCell = 18.0;
constexpr std::size_t kMostCells = 160;
constexpr int kNameColumns = 34;

std::string CellTitle(const std::vector<GroupDifference>& groups, const HeatCell& cell) {
  const GroupDifference& worst = groups[cell.worst];
  std::string words = HtmlText(worst.group, 200);
  if (cell.last > cell.first) {
    words += fmt::format(" (the farthest of {} layers)", cell.last - cell.first + 1);
  }
  if (!cell.differs) return fmt::format("{}: equal", words);
  return fmt::format("{}: {} of {} differ, relative norm {}, largest {} ULP", words,
                     FormatCount(worst.differing_tensors), Counted(worst.tensors, "tensor"),
                     FormatNumber(worst.relative_norm, 3), FormatCount(worst.max_ulp));
}

std::string Cells(const std::vector<GroupDifference>& groups, const HeatStrip& strip) {
  const double slot = (kStripRight - kStripLeft) / static_cast<double>(strip.cells.size());
  const double gap = slot > 4.0 ? 1.0 : 0.0;
  std::string out;
  for (std::size_t i = 0; i < strip.cells.size(); ++i) {
    const HeatCell& cell = strip.cells[i];
    const double height =
        cell.level == 0 ? kFlat : kFlat + (kBase - kStripTop - kFlat) * cell.level / kHeatLevels;
    out += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{}"
        "</title></rect>",
        cell.level > 0 ? fmt::format("h{}", cell.level)
        : cell.differs ? "hu"
                       : "h0",
        kStripLeft + slot * static_cast<double>(i), kBase - height, std::max(slot - gap, 0.5),
        height, CellTitle(groups, cell));
  }
  return out;
}

// Swatches from equal to the farthest, with the ends of the scale in numbers.
std::string Legend(const HeatStrip& strip) {
  std::string out = fmt::format(
      "<rect class=\"h0\" x=\"{0:.0f}\" y=\"{1:.0f}\" width=\"16\" height=\"12\"/><text "
      "x=\"{2:.0f}\" "
      "y=\"{3:.0f}\">equal</text>",
      kStripLeft, kLegendTop, kStripLeft + 22, kLegendTop + 10);
  const bool unmeasured = std::any_of(strip.cells.begin(), strip.cells.end(), [](const auto& cell) {
    return cell.differs && cell.level == 0;
  });
  double x = kStripLeft + 70;
  if (unmeasured) {
    out += fmt::format(
        "<rect class=\"hu\" x=\"{0:.0f}\" y=\"{1:.0f}\" width=\"16\" height=\"12\"/><text "
        "x=\"{2:.0f}\" y=\"{3:.0f}\">differs</text>",
        x, kLegendTop, x + 22, kLegendTop + 10);
    x += 80;
  }
  if (strip.high == 0.0) return out;
  const std::string low = FormatNumber(strip.low, 2);
  const double start = x + 20 + 7.0 * static_cast<double>(low.size());
  out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>", start - 6,
                     kLegendTop + 10, low);
  for (int level = 1; level <= kHeatLevels; ++level) {
    out += fmt::format(
        "<rect class=\"h{}\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"12\"/>", level,
        start + kLegendCell * (level - 1), kLegendTop, kLegendCell);
  }
  return out + fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">{} relative norm of B − A (log)</text>",
                           start + kLegendCell * kHeatLevels + 6, kLegendTop + 10,
                           FormatNumber(strip.high, 2));
}

// Below every measured one if nothing was measured.
double Norm(const GroupDifference& group) {
  return std::isnan(group.relative_norm) ? -1.0 : group.relative_norm;
}

std::string Description(const std::vector<GroupDifference>& groups) {
  const auto differs = [](const GroupDifference& group) { return group.differing_tensors > 0; };
  const auto first = std::find_if(groups.begin(), groups.end(), differs);
  const auto count =
      static_cast<std::uint64_t>(std::count_if(groups.begin(), groups.end(), differs));
  if (first == groups.end()) return Counted(groups.size(), "layer") + ", all equal.";
  const auto worst = std::max_element(
      groups.begin(), groups.end(), [](const auto& a, const auto& b) { return Norm(a) < Norm(b); });
  std::string words = fmt::format("{} of {} differ, the first is {}.", FormatCount(count),
                                  Counted(groups.size(), "layer"), SafeText(first->group, 200));
  if (worst->relative_norm > 0.0) {
    words += fmt::format(" The farthest is {}, relative norm {}.", SafeText(worst->group, 200),
                         FormatNumber(worst->relative_norm, 3));
  }
  return words;
}

}  // namespace

std::string SvgHeatStrip(const std::vector<GroupDifference>& groups, std::string_view id) {
  if (groups.empty()) return "";
  const HeatStrip strip = BuildHeatStrip(groups, kMostCells);
  std::string out =
      SvgOpen(kStripWidth, kStripHeight, id, "Difference by layer", Description(groups));
  out += Cells(groups, strip);
  out += fmt::format("<path class=\"axis\" d=\"M{:.0f} {:.0f}H{:.0f}\"/>", kStripLeft, kBase,
                     kStripRight);
  const auto name = [&](const GroupDifference& group, double x, std::string_view anchor) {
    return fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"{}\">{}</text>", x,
                       kBase + 16, anchor,
                       HtmlText(ElideMiddle(SafeText(group.group, 200), kNameColumns)));
  };
  out += name(groups.front(), kStripLeft, "start");
  if (groups.size() > 1) out += name(groups.back(), kStripRight, "end");
  return out + Legend(strip) + "</svg>";
}

}  // namespace rharness
