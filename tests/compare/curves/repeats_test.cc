// Real repeats: how often one more run leaves the band of the others.
#include "tests/compare/curves/repeats.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/shared_data.h"

namespace rharness {
namespace {

TEST(Repeats, LeaveTheBandOfTheirLikeNoMoreOftenThanStated) {
  const auto csv = SharedData("repeats");
  if (!csv) GTEST_SKIP() << kNoSharedData;
  const auto groups = LoadRepeats(*csv / "nanogpt.csv");
  ASSERT_TRUE(groups.ok()) << groups.error().ToString();
  ASSERT_EQ(groups->size(), 64u);
  const std::vector<RepeatRates> rates = RatesOf(*groups, 2000);
  fmt::print("{}", Print(rates));
  std::map<int, RepeatRates> by;
  for (const RepeatRates& one : rates) by[one.replicates] = one;
  for (const auto& [replicates, one] : by) {
    ASSERT_EQ(one.trials, 2000) << replicates;
    EXPECT_LE(one.beyond, 0.01) << replicates;
    // A single pair and one or two replicates cannot tell a seed from a change.
    if (replicates < 3) {
      EXPECT_EQ(one.beyond, 0.0) << replicates;
    }
  }
  EXPECT_GE(by[0].within, 0.85);
  EXPECT_GE(by[5].found_38, 0.95);
  EXPECT_GE(by[5].found_10, 0.9);
  EXPECT_GE(by[9].found_10, 0.99);
  EXPECT_LE(by[5].undecided, 0.1);
}

// The same runs, were their values no losses: 38 standard deviations in the last quarter decide.
TEST(Repeats, OfWhatIsNoLossDecideAsWell) {
  const auto csv = SharedData("repeats");
  if (!csv) GTEST_SKIP() << kNoSharedData;
  auto groups = LoadRepeats(*csv / "nanogpt.csv");
  ASSERT_TRUE(groups.ok()) << groups.error().ToString();
  for (RepeatGroup& group : *groups) {
    for (CurveSeries& run : group.runs) run.name = "val_accuracy";
  }
  const std::vector<RepeatRates> rates = RatesOf(*groups, 1000);
  fmt::print("{}", Print(rates));
  for (const RepeatRates& one : rates) {
    EXPECT_LE(one.beyond, 0.01) << one.replicates;
    if (one.replicates >= 4) {
      EXPECT_GE(one.found_38, 0.99) << one.replicates;
    }
  }
}

}  // namespace
}  // namespace rharness
