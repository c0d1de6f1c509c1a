// Changes of a rate: how often one is named where there is none, and found where there is one.
#include "compare/stats/rate_changes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "compare/stats/proportions.h"

namespace rharness::stats {
namespace {

// Weeks of `runs` runs, of which each is good with this chance.
std::vector<CountOfTrials> Draw(std::mt19937_64* engine, const std::vector<double>& rates,
                                int runs) {
  std::vector<CountOfTrials> series;
  for (const double rate : rates) {
    std::binomial_distribution<int> good(runs, rate);
    series.push_back({good(*engine), runs});
  }
  return series;
}

TEST(SameRate, IsFishersTestWithItsSmallerTailTwice) {
  for (const auto& [left, right] : std::vector<std::pair<CountOfTrials, CountOfTrials>>{
           {{9, 10}, {3, 10}}, {{1, 8}, {5, 9}}, {{40, 40}, {380, 400}}, {{0, 3}, {0, 7}}}) {
    const auto x = static_cast<double>(left.successes), n = static_cast<double>(left.trials);
    const auto y = static_cast<double>(right.successes), m = static_cast<double>(right.trials);
    const double expected =
        std::min({1.0, 2.0 * FisherExactUpper(x, n, y, m), 2.0 * FisherExactUpper(y, m, x, n)});
    EXPECT_NEAR(SameRateP(left, right), expected, 1e-10);
    EXPECT_NEAR(SameRateP(right, left), expected, 1e-10);
  }
  // Agresti 2013, section 3.5.2: the lady that tastes tea, one-sided 17/70.
  EXPECT_NEAR(SameRateP({3, 4}, {1, 4}), 2.0 * 17.0 / 70.0, 1e-12);
}

// At most alpha; 2,000 series each, so that 0.05 has a standard error of 0.005.
TEST(RateChanges, AreNamedSeldomWhereThereAreNone) {
  std::mt19937_64 engine(20261125);
  constexpr int kSeries = 2000;
  for (const double rate : {0.5, 0.9, 0.98}) {
    for (const int runs : {5, 40}) {
      int named = 0;
      for (int i = 0; i < kSeries; ++i) {
        const auto series = Draw(&engine, std::vector<double>(30, rate), runs);
        if (!FindRateChanges(series, 0.05).empty()) ++named;
      }
      EXPECT_LE(named, 0.06 * kSeries) << rate << " of " << runs << " a week";
      RecordProperty("named", named);
    }
  }
}

TEST(RateChanges, AreFoundWhereTheyWerePlanted) {
  std::mt19937_64 engine(20261126);
  constexpr int kSeries = 400;
  std::vector<double> rates(30, 0.95);
  std::fill(rates.begin() + 20, rates.end(), 0.70);
  int found = 0, near = 0, within = 0;
  for (int i = 0; i < kSeries; ++i) {
    const auto changes = FindRateChanges(Draw(&engine, rates, 20), 0.05);
    if (changes.empty()) continue;
    ++found;
    const auto nearest = std::ranges::min_element(
        changes, {}, [](const RateChange& one) { return std::abs(static_cast<int>(one.at) - 20); });
    if (nearest->at >= 19 && nearest->at <= 21) ++near;
    if (nearest->earliest <= 20 && nearest->latest >= 20) ++within;
  }
  EXPECT_GE(found, 0.99 * kSeries);
  EXPECT_GE(near, 0.9 * kSeries);
  EXPECT_GE(within, 0.9 * kSeries);
}

TEST(RateChanges, FindTheBeginningAndTheEndOfABadStretch) {
  std::vector<CountOfTrials> series(12, {20, 20});
  for (const std::size_t week : {5, 6, 7}) series[week] = {8, 20};
  series[2] = {0, 0};  // nobody drilled
  const auto changes = FindRateChanges(series, 0.01);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].at, 5U);
  EXPECT_EQ(changes[1].at, 8U);
  EXPECT_DOUBLE_EQ(changes[0].before, 1.0);
  EXPECT_DOUBLE_EQ(changes[1].after, 1.0);
  EXPECT_LT(changes[0].p, 0.01);
}

TEST(RateChanges, AreNoneOfTooLittle) {
  EXPECT_TRUE(FindRateChanges({}, 0.05).empty());
  EXPECT_TRUE(FindRateChanges({{5, 5}}, 0.05).empty());
  EXPECT_TRUE(FindRateChanges({{0, 0}, {0, 0}, {3, 5}}, 0.05).empty());
  EXPECT_TRUE(FindRateChanges({{2, 2}, {0, 2}}, 0.05).empty()) << "one of six orders: p = 1/3";
}

// Exact at a million, too: no tail is summed up to its end, and none is lost.
TEST(RateChanges, HoldOfMillions) {
  EXPECT_EQ(SameRateP({990'000, 1'000'000}, {980'000, 1'000'000}), 0.0);
  const double p = SameRateP({500'000, 1'000'000}, {500'500, 1'000'000});
  // z = 500 / sqrt(2 * 10^6 * 0.25) = 0.707
  EXPECT_NEAR(p, 0.4795, 0.002);
}

}  // namespace
}  // namespace rharness::stats
