// Shades and blocks of the heat strip and the ULP histogram; see heat_strip.h.
#include "reports/heat_strip.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rharness {
namespace {

constexpr std::array<const char*, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

bool Measured(const GroupDifference& group) { return group.relative_norm > 0.0; }

// Which of two groups a shared cell shows: the one that moved further, and any before none.
bool Worse(const GroupDifference& a, const GroupDifference& b) {
  if (Measured(a) != Measured(b)) return Measured(a);
  if (Measured(a)) return a.relative_norm > b.relative_norm;
  return a.differing_tensors > b.differing_tensors;
}

int LevelOf(double value, double low, double high) {
  if (!std::isfinite(value)) return kHeatLevels;
  const double share = std::log(value / low) / std::log(high / low);
  return std::clamp(1 + static_cast<int>(share * kHeatLevels), 1, kHeatLevels);
}

}  // namespace

HeatStrip BuildHeatStrip(const std::vector<GroupDifference>& groups, std::size_t most_cells) {
  HeatStrip strip;
  for (const GroupDifference& group : groups) {
    if (!Measured(group) || !std::isfinite(group.relative_norm)) continue;
    strip.high = std::max(strip.high, group.relative_norm);
    strip.low = strip.low == 0.0 ? group.relative_norm : std::min(strip.low, group.relative_norm);
  }
  strip.low = std::min(strip.low, strip.high / 10.0);
  const std::size_t count = std::min(groups.size(), std::max<std::size_t>(most_cells, 1));
  for (std::size_t i = 0; i < count; ++i) {
    HeatCell cell;
    cell.first = i * groups.size() / count;
    cell.last = (i + 1) * groups.size() / count - 1;
    cell.worst = cell.first;
    for (std::size_t g = cell.first + 1; g <= cell.last; ++g) {
      if (Worse(groups[g], groups[cell.worst])) cell.worst = g;
    }
    const GroupDifference& worst = groups[cell.worst];
    cell.differs = worst.differing_tensors > 0;
    if (cell.differs && Measured(worst)) {
      cell.level =
          strip.low > 0.0 ? LevelOf(worst.relative_norm, strip.low, strip.high) : kHeatLevels;
    }
    strip.cells.push_back(cell);
  }
  return strip;
}

std::string HeatSparkline(const HeatStrip& strip) {
  std::string out;
  for (const HeatCell& cell : strip.cells) {
    if (cell.level > 0) {
      out += kBlocks[static_cast<std::size_t>(cell.level - 1)];
    } else {
      out += cell.differs ? "?" : "·";
    }
  }
  return out;
}

int LastBin(const UlpHistogram& histogram) {
  int last = static_cast<int>(histogram.size()) - 1;
  while (last >= 0 && histogram[static_cast<std::size_t>(last)] == 0) --last;
  return last;
}

std::string UlpSparkline(const UlpHistogram& histogram) {
  const int last = LastBin(histogram);
  const double most = static_cast<double>(*std::max_element(histogram.begin(), histogram.end()));
  std::string out;
  for (int i = 0; i <= last; ++i) {
    const auto count = static_cast<double>(histogram[static_cast<std::size_t>(i)]);
    if (count == 0.0) {
      out += " ";
      continue;
    }
    const double share = std::log1p(count) / std::log1p(most);
    out += kBlocks[static_cast<std::size_t>(std::clamp(static_cast<int>(share * 8.0), 0, 7))];
  }
  return out;
}

}  // namespace rharness
