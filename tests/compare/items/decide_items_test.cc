// Pairs of scores: against statsmodels and scipy, and at the edges.
#include "compare/items/decide_items.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compare/stats/mcnemar.h"
#include "compare/stats/sign_flips.h"

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
  EXPECT_EQ(DecideItems({.name = "acc"}).decision.reason, "unscored_items");
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

// scipy 1.16: permutation_test over all signs; ttest_rel for t.
TEST(DecideItems, TestsGradedScoresByTheirSigns) {
  ItemScores scores{.name = "f1",
                    .a = {0.1, 0.5, 0.9, 0.3, 0.7, 0.2, 0.8, 0.4},
                    .b = {0.2, 0.45, 0.95, 0.5, 0.75, 0.15, 0.9, 0.45},
                    .margin = 0.14};
  MetricDecision decision = DecideItems(scores).decision;
  EXPECT_NEAR(decision.t, 1.9377736935507248, 1e-12);
  EXPECT_NEAR(decision.p_difference, 0.140625, 1e-15);
  // numpy: t and its inverse correction at 0.025, since these are fewer than 50 items.
  EXPECT_NEAR(decision.ci_low, -0.012390685233150164, 1e-12);
  EXPECT_NEAR(decision.ci_high, 0.12959882554336385, 1e-12);
  EXPECT_EQ(decision.alpha_equivalence, 0.025);
  EXPECT_EQ(decision.verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(decision.reason, "too_few_items");
  scores.margin = 0.12;
  EXPECT_EQ(DecideItems(scores).decision.verdict, MetricVerdict::kInconclusive);
  // The same by pairs of neighbours, computed with numpy.
  scores.clusters = {"p", "p", "q", "q", "r", "r", "s", "s"};
  decision = DecideItems(scores).decision;
  EXPECT_NEAR(decision.standard_error, 0.027716947282604307, 1e-14);
  EXPECT_NEAR(decision.p_difference, 0.25, 1e-15);
  EXPECT_EQ(decision.df, 3.0);
  scores.clusters.assign(8, "one");
  EXPECT_EQ(DecideItems(scores).decision.reason, "no_variance_basis");
  EXPECT_EQ(DecideItems(scores).decision.verdict, MetricVerdict::kInconclusive);
}

// An upper limit by t alone is too low where a few items move far: at the margin t accepts in 11 of
// 100 evaluations of 50 items; 5 % of the items move.
TEST(DecideItems, WidensTheIntervalOfSkewedDifferences) {
  ItemScores scores{.name = "f1", .margin = 0.024};
  for (int i = 0; i < 100; ++i) {
    scores.a.push_back(0.2);
    scores.b.push_back(i < 4 ? 0.4 : 0.2);
  }
  MetricDecision decision = DecideItems(scores).decision;
  const double by_t = decision.difference + 1.6603911560169925 * decision.standard_error;
  EXPECT_LT(by_t, 0.0147);
  EXPECT_GT(decision.ci_high, 0.0180);
  EXPECT_NEAR(decision.ci_low, decision.difference - (by_t - decision.difference), 1e-12);
  EXPECT_EQ(decision.verdict, MetricVerdict::kWithin);
  scores.margin = 0.016;
  EXPECT_NE(DecideItems(scores).decision.verdict, MetricVerdict::kWithin);
}

// Few-valued differences of few items: t has p = 0.0009 where 1 of 32 assignments is as far.
TEST(DecideItems, ClaimsNoDriftOfAFewItems) {
  const ItemScores scores{
      .name = "grade", .a = {1, 2, 3, 2, 1, 4}, .b = {2, 3, 4, 3, 3, 5}, .margin = 0.1};
  const MetricDecision decision = DecideItems(scores).decision;
  EXPECT_NEAR(decision.p_difference, 1.0 / 32.0, 1e-15);
  EXPECT_EQ(decision.verdict, MetricVerdict::kInconclusive);
}

TEST(DecideItems, ShowsAConstantShiftOfManyItemsAndPassesNone) {
  ItemScores scores{
      .name = "f1", .a = {0.1, 0.2, 0.3, 0.7}, .b = {0.2, 0.3, 0.4, 0.8}, .margin = 0.5};
  EXPECT_EQ(DecideItems(scores).decision.verdict, MetricVerdict::kInconclusive);
  EXPECT_EQ(DecideItems(scores).decision.reason, "no_variance_basis");
  for (int i = 0; i < 60; ++i) {
    scores.a.push_back(0.5);
    scores.b.push_back(0.6);
  }
  EXPECT_EQ(DecideItems(scores).decision.verdict, MetricVerdict::kInconclusive);
  scores.margin = 0.05;
  EXPECT_EQ(DecideItems(scores).decision.verdict, MetricVerdict::kDrifted);
  EXPECT_EQ(DecideItems(scores).decision.p_difference, 1e-5);
}

TEST(DecideItems, ShowsNoEquivalenceByAFewClusters) {
  ItemScores scores{.name = "f1", .margin = 0.05};
  for (int i = 0; i < 40; ++i) {
    scores.a.push_back(0.5);
    scores.b.push_back(0.5 + (i % 4 == 0 ? 0.002 : 0.0));
    scores.clusters.push_back(i % 2 == 0 ? "a" : "b");
  }
  const ItemDecision few = DecideItems(scores);
  EXPECT_EQ(few.decision.verdict, MetricVerdict::kInconclusive);
  for (int i = 0; i < 40; ++i) {
    scores.clusters[static_cast<std::size_t>(i)] = std::to_string(i / 2);
  }
  EXPECT_EQ(DecideItems(scores).decision.verdict, MetricVerdict::kWithin);
}

TEST(SignFlips, AreNotTestedWhereNothingCouldBeSaid) {
  EXPECT_EQ(stats::TestSignFlips({}).p, 1.0);
  EXPECT_EQ(stats::TestSignFlips({0.0, 0.0}).differences, 0U);
  EXPECT_EQ(stats::TestSignFlips({1.0}).p, 1.0);
  EXPECT_TRUE(std::isnan(stats::TestSignFlips({1.0, INFINITY}).p));
  EXPECT_TRUE(std::isnan(stats::TestSignFlips(std::vector<double>(20'001, 1.0)).p));
  EXPECT_TRUE(stats::TestSignFlips(std::vector<double>(20, 1.0)).exact);
  EXPECT_NEAR(stats::TestSignFlips(std::vector<double>(20, 1.0)).p, std::ldexp(1.0, -19), 1e-18);
  EXPECT_FALSE(stats::TestSignFlips(std::vector<double>(21, 1.0)).exact);
  // Sums in another order are the same sum: 0.1 + 0.2 - 0.3 is not 0 in binary.
  EXPECT_EQ(stats::TestSignFlips({0.1, 0.2, -0.3}).p, 1.0);
  // More than 20,000 that differ are tested by t.
  ItemScores many{.name = "f1"};
  for (int i = 0; i < 30'000; ++i) {
    many.a.push_back(0.25);
    many.b.push_back(i % 5 < 3 ? 0.5 : 0.125);
  }
  const MetricDecision decision = DecideItems(many).decision;
  EXPECT_LT(decision.p_difference, 1e-10);
  EXPECT_EQ(decision.verdict, MetricVerdict::kDrifted);
}

}  // namespace
}  // namespace rharness
