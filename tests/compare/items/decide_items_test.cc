// Pairs of scores: against statsmodels and scipy, and at the edges.
#include "compare/items/decide_items.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compare/stats/mcnemar.h"

namespace rharness {
namespace {

// `lost` items only A has right, `won` only B, and half of the others both.
ItemScores Binary(int lost, int won, int n, std::optional<double> margin = {}) {
  ItemScores scores{.name = "acc", .margin = margin};
  for (int i = 0; i < n; ++i) {
    const bool both = i >= lost + won && i % 2 == 0;
    scores.a.push_back(i < lost || both ? 1.0 : 0.0);
    scores.b.push_back((i >= lost && i < lost + won) || both ? 1.0 : 0.0);
  }
  return scores;
}

// statsmodels 0.14: mcnemar([[0, b], [c, 0]], exact=True).
TEST(DecideItems, TestsScoresOfZeroAndOneAsMcNemarDoes) {
  EXPECT_NEAR(DecideItems(Binary(40, 66, 1319)).decision.p_difference, 0.01477941051703841, 1e-14);
  EXPECT_NEAR(DecideItems(Binary(3, 12, 50)).decision.p_difference, 0.03515625, 1e-14);
  EXPECT_EQ(DecideItems(Binary(1, 0, 10)).decision.p_difference, 1.0);
  EXPECT_EQ(DecideItems(Binary(10, 10, 100)).decision.p_difference, 1.0);
}

// The likelihood maximised numerically with scipy 1.16 for each difference, which is Tango's score.
TEST(Tango, IsTheScoreOfTheConstrainedLikelihood) {
  EXPECT_NEAR(stats::TangoScore(40, 66, 1319, -0.03), 5.89342013797219, 1e-6);
  EXPECT_NEAR(stats::TangoScore(40, 66, 1319, 0.0), 2.5253432333873627, 1e-6);
  EXPECT_NEAR(stats::TangoScore(40, 66, 1319, 0.03), -1.2979049304146468, 1e-6);
  EXPECT_NEAR(stats::TangoScore(3, 12, 50, 0.03), 1.976463232835667, 1e-6);
  const stats::Interval wide = stats::TangoInterval(40, 66, 1319, 0.9);
  EXPECT_NEAR(wide.low, 0.006959261543101627, 1e-7);
  EXPECT_NEAR(wide.high, 0.03283678471126258, 1e-7);
  const stats::Interval even = stats::TangoInterval(5, 5, 100, 0.9);
  EXPECT_NEAR(even.low, -0.05708605016578474, 1e-7);
  EXPECT_NEAR(even.high, 0.057086050155547484, 1e-7);
  EXPECT_TRUE(std::isnan(stats::TangoScore(3, 3, 5, 0.0)));
  EXPECT_TRUE(std::isnan(stats::TangoScore(1, 1, 5, 1.0)));
  EXPECT_EQ(stats::TangoScore(0, 0, 5, 0.0), 0.0);
}

TEST(DecideItems, PassesOnlyWhatIsEqualOrShownToBeWithinTheMargin) {
  EXPECT_EQ(DecideItems(Binary(0, 0, 3)).decision.verdict, MetricVerdict::kWithin);
  EXPECT_EQ(DecideItems(Binary(0, 0, 3)).decision.reason, "equal");
  EXPECT_EQ(DecideItems(Binary(5, 6, 1000, 0.02)).decision.verdict, MetricVerdict::kWithin);
  EXPECT_EQ(DecideItems(Binary(5, 6, 100, 0.02)).decision.verdict, MetricVerdict::kInconclusive);
  const MetricDecision open = DecideItems(Binary(5, 6, 1000)).decision;
  EXPECT_EQ(open.verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(open.reason, "no_margin");
  // A difference is shown, and is too small to matter.
  const MetricDecision small = DecideItems(Binary(20, 60, 10'000, 0.02)).decision;
  EXPECT_LT(small.p_difference, 0.01);
  EXPECT_EQ(small.verdict, MetricVerdict::kWithin);
  EXPECT_EQ(DecideItems({.name = "acc"}).decision.verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(DecideItems({.name = "acc"}).decision.reason, "missing");
}

// Two means within their standard errors of 1.4 points: 40 % and 42 %.
TEST(DecideItems, FindsWhatTheMeansHide) {
  ItemScores scores = Binary(0, 24, 1200, 0.01);
  const ItemDecision items = DecideItems(scores);
  EXPECT_NEAR(items.decision.difference, 0.02, 1e-12);
  EXPECT_EQ(items.decision.verdict, MetricVerdict::kDrifted);
  EXPECT_LT(items.decision.p_difference, 1e-6);
  EXPECT_EQ(items.higher.size(), 24U);
  EXPECT_TRUE(items.lower.empty());
  EXPECT_EQ(items.higher.front(), 0U);
}

// scipy 1.16: ttest_rel, and its interval of 90 %.
TEST(DecideItems, TestsGradedScoresByTheirDifferences) {
  ItemScores scores{.name = "f1",
                    .a = {0.1, 0.5, 0.9, 0.3, 0.7, 0.2, 0.8, 0.4},
                    .b = {0.2, 0.45, 0.95, 0.5, 0.75, 0.15, 0.9, 0.45},
                    .margin = 0.12};
  MetricDecision decision = DecideItems(scores).decision;
  EXPECT_NEAR(decision.t, 1.9377736935507248, 1e-12);
  EXPECT_NEAR(decision.p_difference, 0.09384213884512414, 1e-12);
  EXPECT_NEAR(decision.ci_low, 0.0012538738316047737, 1e-12);
  EXPECT_NEAR(decision.ci_high, 0.11124612616839519, 1e-12);
  EXPECT_EQ(decision.verdict, MetricVerdict::kWithin);
  scores.margin = 0.11;
  EXPECT_EQ(DecideItems(scores).decision.verdict, MetricVerdict::kInconclusive);
  // The same by pairs of neighbours, computed with numpy.
  scores.clusters = {"p", "p", "q", "q", "r", "r", "s", "s"};
  decision = DecideItems(scores).decision;
  EXPECT_NEAR(decision.standard_error, 0.027716947282604307, 1e-14);
  EXPECT_NEAR(decision.p_difference, 0.13541652150795006, 1e-12);
  EXPECT_EQ(decision.df, 3.0);
  scores.clusters.assign(8, "one");
  EXPECT_EQ(DecideItems(scores).decision.reason, "no_variance_basis");
  EXPECT_EQ(DecideItems(scores).decision.verdict, MetricVerdict::kInconclusive);
}

TEST(DecideItems, PassesNoConstantShift) {
  const ItemScores scores{
      .name = "f1", .a = {0.1, 0.2, 0.3, 0.7}, .b = {0.2, 0.3, 0.4, 0.8}, .margin = 0.5};
  EXPECT_EQ(DecideItems(scores).decision.verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(DecideItems(scores).decision.reason, "no_variance_basis");
}

}  // namespace
}  // namespace rharness
