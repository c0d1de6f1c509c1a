// The shift of each layer of a checkpoint, on a log scale, in a limited number of cells.
//
// Role: positions and shades of the heat strip, for the page and for the terminal. Pure.
#ifndef RHARNESS_REPORTS_HEAT_STRIP_H_
#define RHARNESS_REPORTS_HEAT_STRIP_H_

#include <string>
#include <vector>

#include "compare/weights/tensor_diff.h"

namespace rharness {

inline constexpr int kHeatLevels = 8;

// One cell: groups [first, last] of the checkpoint, if several share it.
struct HeatCell {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t worst = 0;  // the group of them that the cell shows
  bool differs = false;
  // 1 to kHeatLevels by the log of the worst relative norm; 0: equal, or it differs unmeasured.
  int level = 0;
};

struct HeatStrip {
  std::vector<HeatCell> cells;
  double low = 0.0;   // relative norm at the bottom of level 1
  double high = 0.0;  // the largest finite one; 0: nothing was measured
};

// At most `most_cells` (>= 1) cells. An infinite relative norm (A is zero there) takes the last
// level; the scale spans at least one decade, so that equal values do not look like a trend.
HeatStrip BuildHeatStrip(const std::vector<GroupDifference>& groups, std::size_t most_cells);

// "▂▅█▃": one block per power of two from 1 ULP to the largest distance, heights by log count.
// Empty when the histogram is.
std::string UlpSparkline(const UlpHistogram& histogram);
// "··▂▅█": one block per cell; "·" is equal, "?" differs unmeasured.
std::string HeatSparkline(const HeatStrip& strip);

// Index of the last non-empty entry; -1 when all are empty.
int LastBin(const UlpHistogram& histogram);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_HEAT_STRIP_H_
