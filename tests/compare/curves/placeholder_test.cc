// References of which nothing is a share: zeros, and numbers that stand for an infinity.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "compare/curves/curve_comparison.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kPlacedSteps = 40;

template <typename F>
CurveSeries Placed(const std::string& name, F value) {
  CurveSeries series{name, {}, {}, 0.0};
  for (int i = 0; i < kPlacedSteps; ++i) {
    series.steps.push_back(i);
    series.values.push_back(value(i));
  }
  return series;
}

double Falling(int i) { return 1.0 / (i + 1); }

TEST(Placeholders, AReferenceOfZerosIsNothingToMeasureBy) {
  for (const char* name : {"train_loss", "val_loss", "accuracy"}) {
    const CurveSeries zeros = Placed(name, [](int) { return 0.0; });
    for (const CurveSeries& b : {Placed(name, [](int) { return 0.0002; }), Placed(name, Falling),
                                 Placed(name, [](int i) { return i % 2 == 0 ? 1e-4 : -1e-4; })}) {
      const CurveComparison c = CompareCurve(zeros, b, {}, {});
      EXPECT_EQ(c.state, CurveState::kVacuous) << name << ": " << c.message;
      EXPECT_THAT(c.message, Not(HasSubstr("%")));
    }
    EXPECT_EQ(CompareCurve(zeros, zeros, {}, {}).state, CurveState::kVacuous);
  }
  // Zeros where there was a loss are no loss.
  const CurveComparison lost = CompareCurve(Placed("train_loss", Falling),
                                            Placed("train_loss", [](int) { return 0.0; }), {}, {});
  EXPECT_EQ(lost.state, CurveState::kBeyond);
}

TEST(Placeholders, TheLargestNumberStandsForAnInfinity) {
  const double largest = std::numeric_limits<double>::max();
  const double single = static_cast<double>(std::numeric_limits<float>::max());
  for (const double placeholder : {largest, -largest, single}) {
    const auto constant = [&](int) { return placeholder; };
    const CurveSeries placed = Placed("train_loss", constant);
    EXPECT_EQ(CompareCurve(placed, placed, {}, {}).state, CurveState::kVacuous);
    const CurveSeries late =
        Placed("train_loss", [&](int i) { return i < 30 ? Falling(i) : placeholder; });
    EXPECT_EQ(CompareCurve(Placed("train_loss", Falling), late, {}, {}).first_non_finite, 30);
    const CurveComparison back = CompareCurve(late, Placed("train_loss", Falling), {}, {});
    EXPECT_NE(back.state, CurveState::kWithin);
    EXPECT_NE(back.state, CurveState::kBeyond) << back.message;
  }
}

}  // namespace
}  // namespace rharness
