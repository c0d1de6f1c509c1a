// The numbers of a difference, its four scores, and the decision by a margin.
#include "compare/curves/single_pair.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace rharness {
namespace {

Judged Pair(const std::vector<double>& a, const std::vector<double>& b, double quantum = 0.0) {
  Judged judged;
  for (std::size_t i = 0; i < a.size(); ++i) {
    judged.at.push_back(i);
    judged.steps.push_back(static_cast<std::int64_t>(10 * i));
  }
  judged.a = a;
  judged.b = b;
  judged.quantum = quantum;
  return judged;
}

TEST(DifferenceShape, TakesScatterFromJumpsAndNotFromAShift) {
  // Differences 0, 0, 0, 5, 5, 5, 5: one jump, so the median jump is none.
  const DifferenceShape shape = ShapeOf(Pair({9, 8, 7, 6, 5, 4, 3}, {9, 8, 7, 11, 10, 9, 8}, 0.6));
  EXPECT_DOUBLE_EQ(shape.typical_scatter, 0.6 / std::sqrt(6.0)) << "what printing makes of it";
  // Jumps of 1, 1, 1, 1, 1, 1 up and down.
  const DifferenceShape jumps = ShapeOf(Pair({9, 8, 7, 6, 5, 4, 3}, {9, 9, 7, 7, 5, 5, 3}));
  EXPECT_NEAR(jumps.typical_scatter, 1.4826 / std::sqrt(2.0), 1e-12);
}

TEST(DifferenceShape, TakesItsOwnNoiseWithoutATrend) {
  // A cubic has no fourth difference.
  std::vector<double> cubic;
  for (int i = 0; i < 12; ++i) cubic.push_back(500.0 - i * i * i * 0.1 - 3.0 * i);
  EXPECT_NEAR(ShapeOf(Pair(cubic, cubic)).own_noise, 0.0, 1e-9);
  // 1, -1, 1, ...: fourth differences of 16.
  std::vector<double> alternating;
  for (int i = 0; i < 12; ++i) alternating.push_back(10.0 + (i % 2 == 0 ? 1.0 : -1.0));
  EXPECT_NEAR(ShapeOf(Pair(alternating, alternating)).own_noise, 1.4826 * 16.0 / std::sqrt(70.0),
              1e-9);
}

TEST(DifferenceShape, MeasuresProgressAsAShareOfTheSteps) {
  // A straight line is its own trend: b is ahead by 4 % of the steps.
  std::vector<double> a, b;
  for (int i = 0; i < 20; ++i) {
    a.push_back(100.0 - i);
    b.push_back(100.0 - 1.04 * i);
  }
  const DifferenceShape shape = ShapeOf(Pair(a, b));
  EXPECT_NEAR(shape.progress, 0.04, 1e-9);
  EXPECT_NEAR(ShapeOf(Pair(a, a)).progress, 0.0, 1e-15);
}

TEST(WindowsOf, CoversAQuarterAHalfAndAll) {
  const DifferenceShape shape =
      ShapeOf(Pair(std::vector<double>(16, 2.0), std::vector<double>(16, 2.5)));
  const std::vector<WindowMeans> windows = WindowsOf(shape);
  // 13 of 4, 9 of 8 and 1 of 16.
  ASSERT_EQ(windows.size(), 23u);
  for (const WindowMeans& window : windows) {
    EXPECT_NEAR(window.difference, 0.5, 1e-12);
    EXPECT_NEAR(window.size, 2.0, 1e-12);
  }
  EXPECT_EQ(windows.back().length, 16u);
}

TEST(DifferenceShape, TakesValuesNearZeroForAHundredthOfTheLargest) {
  const DifferenceShape shape =
      ShapeOf(Pair({5, 1, 0.001, 0, -0.001, 2}, {5, 1, 0.001, 0, -0.001, 2}));
  EXPECT_DOUBLE_EQ(shape.size[2], 0.05);
  EXPECT_DOUBLE_EQ(shape.size[3], 0.05);
  EXPECT_DOUBLE_EQ(shape.size[5], 2.0);
}

TEST(ScoreLimit, LeavesRoomAboveTheLargestOfTheRecord) {
  EXPECT_DOUBLE_EQ(ScoreLimit({{"a", 10, 0.4}, {"b", 3, 0.8}}), 1.0);
  EXPECT_DOUBLE_EQ(ScoreLimit({}), 1.0);
}

TEST(DecideByMargin, IsOpenWhereTheScatterHidesTheMargin) {
  const std::vector<double> flat(32, 10.0);
  std::vector<double> off(32, 10.05), wild = flat, far(32, 10.5);
  for (std::size_t i = 0; i < wild.size(); ++i) wild[i] += i % 2 == 0 ? 0.2 : -0.2;
  EXPECT_EQ(DecideByMargin(ShapeOf(Pair(flat, off)), 0.01).result, MarginResult::kWithin);
  EXPECT_EQ(DecideByMargin(ShapeOf(Pair(flat, far)), 0.01).result, MarginResult::kBeyond);
  EXPECT_EQ(DecideByMargin(ShapeOf(Pair(flat, wild)), 0.01).result, MarginResult::kOpen);
}

}  // namespace
}  // namespace rharness
