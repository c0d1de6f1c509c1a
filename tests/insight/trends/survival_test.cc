// The product-limit curve beside a published example.
#include "compare/stats/survival.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rharness::stats {
namespace {

// Remission in weeks under 6-mercaptopurine: Freireich et al. 1963 (Blood 21:699), as in Gehan 1965
// (doi:10.1093/biomet/52.1-2.203); "+" is censored.
std::vector<Lifetime> Remissions() {
  return {{6, true},   {6, true},   {6, true},   {6, false}, {7, true},   {9, false},
          {10, true},  {10, false}, {11, false}, {13, true}, {16, true},  {17, false},
          {19, false}, {20, false}, {22, true},  {23, true}, {25, false}, {32, false},
          {32, false}, {34, false}, {35, false}};
}

struct Published {
  double time;
  int at_risk, ended;
  double share, error, low, high;
};

// Kalbfleisch and Prentice 2002, section 1.4, and the band of R's survfit with conf.type
// "log-log".
constexpr Published kPublished[] = {
    {6, 21, 3, 0.8571, 0.0764, 0.6197, 0.9516},  {7, 17, 1, 0.8067, 0.0869, 0.5631, 0.9228},
    {10, 15, 1, 0.7529, 0.0963, 0.5032, 0.8894}, {13, 12, 1, 0.6902, 0.1068, 0.4316, 0.8491},
    {16, 11, 1, 0.6275, 0.1141, 0.3675, 0.8049}, {22, 7, 1, 0.5378, 0.1282, 0.2678, 0.7468},
    {23, 6, 1, 0.4482, 0.1346, 0.1881, 0.6801}};

TEST(KaplanMeier, IsThePublishedOneOfRemissions) {
  const auto steps = KaplanMeier(Remissions(), 0.05);
  ASSERT_EQ(steps.size(), std::size(kPublished));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Published& published = kPublished[i];
    EXPECT_EQ(steps[i].time, published.time);
    EXPECT_EQ(steps[i].at_risk, published.at_risk);
    EXPECT_EQ(steps[i].ended, published.ended);
    EXPECT_NEAR(steps[i].share, published.share, 5.1e-5) << published.time;
    EXPECT_NEAR(steps[i].error, published.error, 5.1e-5) << published.time;
    EXPECT_NEAR(steps[i].low, published.low, 5.1e-5) << published.time;
    EXPECT_NEAR(steps[i].high, published.high, 5.1e-5) << published.time;
  }
  EXPECT_EQ(MedianSurvival(steps), 23.0);
}

TEST(KaplanMeier, IsPlainCountingWithoutCensoring) {
  const auto steps = KaplanMeier({{3, true}, {1, true}, {2, true}, {2, true}}, 0.05);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_DOUBLE_EQ(steps[0].share, 0.75);
  EXPECT_DOUBLE_EQ(steps[1].share, 0.25);
  EXPECT_DOUBLE_EQ(steps[2].share, 0.0);
  EXPECT_TRUE(std::isnan(steps[2].low));
  EXPECT_EQ(MedianSurvival(steps), 2.0);
}

// Where just half have ended the median is there, whatever the products of shares round to.
TEST(MedianSurvival, IsReachedWhereJustHalfHaveEnded) {
  for (int runs = 2; runs <= 400; runs += 2) {
    std::vector<Lifetime> lifetimes;
    for (int i = 1; i <= runs; ++i) lifetimes.push_back({static_cast<double>(i), true});
    EXPECT_EQ(MedianSurvival(KaplanMeier(lifetimes, 0.05)), runs / 2) << runs;
  }
}

// Of `runs` so many end at 1, one by one from there on; at 1000 others are censored, and then
// so many end that of the products just a half is left: (runs - first) / runs * (left - second) /
// left.
TEST(MedianSurvival, IsReachedBetweenCensoringsToo) {
  int halves = 0;
  for (int runs = 2; runs <= 40; ++runs) {
    for (int first = 1; first < runs; ++first) {
      for (int left = 1; left <= runs - first; ++left) {
        const int kept = runs * left;  // 2 (runs - first) (left - second)
        if (kept % (2 * (runs - first)) != 0) continue;
        const int second = left - kept / (2 * (runs - first));
        if (second <= 0) continue;
        std::vector<Lifetime> lifetimes;
        for (int i = 0; i < first; ++i) lifetimes.push_back({1.0 + i, true});
        for (int i = 0; i < runs - first - left; ++i) lifetimes.push_back({1000.0, false});
        for (int i = 0; i < left; ++i) lifetimes.push_back({2000.0 + i, true});
        ++halves;
        EXPECT_EQ(MedianSurvival(KaplanMeier(lifetimes, 0.05)), 2000.0 + second - 1)
            << runs << " " << first << " " << left;
      }
    }
  }
  EXPECT_GT(halves, 300);
}

TEST(MedianSurvival, IsNotReachedWhereOneMoreThanHalfLast) {
  for (const int runs : {3, 5, 7, 99, 101, 1001, 1'000'001}) {
    std::vector<Lifetime> lifetimes;
    for (int i = 1; i <= runs / 2; ++i) lifetimes.push_back({static_cast<double>(i), true});
    while (static_cast<int>(lifetimes.size()) < runs) lifetimes.push_back({1e6, false});
    EXPECT_EQ(MedianSurvival(KaplanMeier(lifetimes, 0.05)), std::nullopt) << runs;
  }
}

TEST(KaplanMeier, SaysNothingOfWhatDidNotEndAndNothingOfNoTime) {
  EXPECT_TRUE(KaplanMeier({}, 0.05).empty());
  EXPECT_TRUE(KaplanMeier({{5, false}, {7, false}}, 0.05).empty());
  EXPECT_EQ(MedianSurvival({}), std::nullopt);
  const auto steps = KaplanMeier(
      {{-1, true}, {std::nan(""), true}, {HUGE_VAL, true}, {1, true}, {2, false}}, 0.05);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_DOUBLE_EQ(steps[0].share, 0.5);
}

}  // namespace
}  // namespace rharness::stats
