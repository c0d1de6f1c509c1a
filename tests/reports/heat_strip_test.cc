// Shades and blocks of layers and distances.
#include "reports/heat_strip.h"

#include <gtest/gtest.h>

#include <limits>

namespace rharness {
namespace {

GroupDifference Moved(double relative_norm) {
  GroupDifference group;
  group.tensors = group.differing_tensors = 1;
  group.relative_norm = relative_norm;
  return group;
}

TEST(HeatStrip, SpreadsItsLevelsOverTheLogOfTheNorms) {
  // Eight decades, eight levels: one a decade, the largest in the last.
  std::vector<GroupDifference> groups;
  for (const double norm : {1e-9, 1.1e-8, 1.1e-7, 1.1e-6, 1.1e-5, 1.1e-4, 1.1e-3, 1.1e-2, 1e-1}) {
    groups.push_back(Moved(norm));
  }
  const HeatStrip strip = BuildHeatStrip(groups, 100);
  const std::vector<int> expected = {1, 2, 3, 4, 5, 6, 7, 8, 8};
  ASSERT_EQ(strip.cells.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(strip.cells[i].level, expected[i]);
  EXPECT_EQ(strip.low, 1e-9);
  EXPECT_EQ(strip.high, 1e-1);
}

TEST(HeatStrip, EqualNormsAreOneLevelAndNoTrend) {
  const HeatStrip strip = BuildHeatStrip({Moved(1e-5), Moved(1e-5)}, 10);
  EXPECT_EQ(strip.cells[0].level, kHeatLevels);
  EXPECT_EQ(strip.cells[1].level, kHeatLevels);
  EXPECT_DOUBLE_EQ(strip.low, 1e-6);
}

TEST(HeatStrip, TellsEqualUnmeasuredAndInfiniteApart) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const HeatStrip strip = BuildHeatStrip({GroupDifference{}, Moved(nan), Moved(inf)}, 10);
  EXPECT_FALSE(strip.cells[0].differs);
  EXPECT_TRUE(strip.cells[1].differs);
  EXPECT_EQ(strip.cells[1].level, 0);
  EXPECT_EQ(strip.cells[2].level, kHeatLevels);
  EXPECT_EQ(HeatSparkline(strip), "·?█");
}

TEST(HeatStrip, ASharedCellShowsTheFarthestLayer) {
  std::vector<GroupDifference> groups(10);
  groups[3] = Moved(1e-3);
  groups[4] = Moved(1e-2);
  const HeatStrip strip = BuildHeatStrip(groups, 2);
  ASSERT_EQ(strip.cells.size(), 2U);
  EXPECT_EQ(strip.cells[0].last, 4U);
  EXPECT_EQ(strip.cells[0].worst, 4U);
  EXPECT_FALSE(strip.cells[1].differs);
  EXPECT_TRUE(BuildHeatStrip({}, 5).cells.empty());
}

TEST(UlpSparkline, HasOneBlockAPowerOfTwoUpToTheLargestDistance) {
  UlpHistogram histogram{};
  EXPECT_EQ(UlpSparkline(histogram), "");
  EXPECT_EQ(LastBin(histogram), -1);
  histogram[0] = 1'000'000;
  histogram[2] = 1;
  EXPECT_EQ(UlpSparkline(histogram), "█ ▁");
  EXPECT_EQ(LastBin(histogram), 2);
}

}  // namespace
}  // namespace rharness
