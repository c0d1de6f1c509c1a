// The verdict of a family, out of its metrics.
#include "compare/family_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rharness {
namespace {

using testing::HasSubstr;

MetricDecision Shift(std::string name, MetricVerdict verdict, double p) {
  MetricDecision metric{.name = std::move(name), .verdict = verdict};
  metric.pairs = 24;
  metric.standard_error = 0.001;
  metric.difference = -0.0165;
  metric.margin = 0.01;
  metric.p_difference = p;
  return metric;
}

FamilyComparison FamilyOf(std::vector<MetricDecision> metrics) {
  return {.name = "mlp", .runs = {"mlp-1", "mlp-2", "mlp-3"}, .metrics = std::move(metrics)};
}

TEST(JudgeFamily, IsDriftedByOneShownShiftAndSaysByHowMuch) {
  FamilyComparison family = FamilyOf({Shift("accuracy", MetricVerdict::kWithin, 0.5),
                                      Shift("loss", MetricVerdict::kDrifted, 1e-9)});
  JudgeFamily(false, &family);
  EXPECT_EQ(family.verdict, Verdict::kDrifted);
  EXPECT_THAT(family.headline, HasSubstr("loss moved by -0.0165 on average over 24 runs"));
  ASSERT_EQ(family.findings.size(), 2U);
  EXPECT_TRUE(family.findings[0].decisive);
  EXPECT_FALSE(family.findings[1].decisive);
}

TEST(JudgeFamily, CorrectsAShiftForTheMetricsThatWereLookedAt) {
  FamilyComparison family = FamilyOf({Shift("accuracy", MetricVerdict::kInconclusive, 0.5),
                                      Shift("loss", MetricVerdict::kDrifted, 0.008)});
  JudgeFamily(false, &family);
  EXPECT_EQ(family.verdict, Verdict::kInconclusive);
}

TEST(JudgeFamily, IsEquivalentOnlyWhereEveryPrimaryMetricIs) {
  FamilyComparison family = FamilyOf(
      {Shift("accuracy", MetricVerdict::kWithin, 0.5), Shift("loss", MetricVerdict::kWithin, 0.5)});
  family.apart = {"mlp-2"};
  JudgeFamily(false, &family);
  EXPECT_EQ(family.verdict, Verdict::kEquivalent);
  EXPECT_THAT(family.headline, HasSubstr("mlp-2 moved apart"));
  family.metrics[1] = Shift("loss", MetricVerdict::kInconclusive, 0.5);
  family.metrics[1].more_runs = 9;
  JudgeFamily(false, &family);
  EXPECT_EQ(family.verdict, Verdict::kInconclusive);
  EXPECT_EQ(family.more_runs, 9);
  EXPECT_THAT(family.headline, HasSubstr("9 more of other seeds would decide"));
  family.metrics[1].primary = false;
  JudgeFamily(false, &family);
  EXPECT_EQ(family.verdict, Verdict::kEquivalent);
}

TEST(JudgeFamily, IsNotEquivalentByAMetricWhereRoundingDoesNotExplainTheCurves) {
  FamilyComparison family = FamilyOf({Shift("accuracy", MetricVerdict::kWithin, 0.5)});
  family.runs = {"mlp-1", "mlp-2", "mlp-3", "mlp-4"};
  family.beyond = {"mlp-1", "mlp-2", "mlp-3", "mlp-4"};
  JudgeFamily(false, &family);
  EXPECT_EQ(family.verdict, Verdict::kInconclusive);
  EXPECT_EQ(family.findings.front().code, "family_curves_beyond");
  EXPECT_FALSE(family.findings.back().decisive);
  EXPECT_EQ(family.headline,
            "in 4 of 4 runs a curve is beyond what rounding explains (mlp-1, mlp-2, mlp-3 and 1 "
            "more), whatever the metrics at the end say");
  family.beyond_shown = 4;
  JudgeFamily(false, &family);
  EXPECT_EQ(family.verdict, Verdict::kDrifted);
  // One of four is an exception, as it is by a metric.
  family.beyond = {"mlp-3"};
  family.beyond_shown = 1;
  JudgeFamily(false, &family);
  EXPECT_EQ(family.verdict, Verdict::kEquivalent);
  EXPECT_THAT(family.headline, HasSubstr("mlp-3 moved apart"));
  // Of three it is more than a quarter.
  family.runs.pop_back();
  JudgeFamily(false, &family);
  EXPECT_EQ(family.verdict, Verdict::kDrifted);
}

TEST(JudgeFamily, IsIdenticalWhereEveryRunIs) {
  FamilyComparison family = FamilyOf({Shift("loss", MetricVerdict::kWithin, 1.0)});
  JudgeFamily(true, &family);
  EXPECT_EQ(family.verdict, Verdict::kIdentical);
}

TEST(JudgeFamily, ShowsNothingWithoutAPrimaryMetric) {
  FamilyComparison family = FamilyOf({});
  JudgeFamily(false, &family);
  EXPECT_EQ(family.verdict, Verdict::kInconclusive);
}

TEST(CommonCauses, AreThoseThatEveryRunHas) {
  const auto variable = [](const std::string& name, Strength strength) {
    return Cause{
        "variable_changed", Layer::kEnvironment, strength, name + " changed", {"0, 1"}, ""};
  };
  const Cause library{"library_changed",
                      Layer::kEnvironment,
                      Strength::kLikely,
                      "Libraries changed.",
                      {"numpy: 1 in A, 2 in B", "scipy: 1 in A, 2 in B"},
                      "rerun"};
  Cause library_alone = library;
  library_alone.evidence.resize(1);
  const Cause pattern_1{"progress_changed", Layer::kCode, Strength::kLikely,
                        "2 % smaller",      {"x"},        ""};
  const Cause pattern_2{"progress_changed", Layer::kCode, Strength::kPossible,
                        "3 % smaller",      {"y"},        ""};
  const Comparison first{.causes = {pattern_1, variable("OMP", Strength::kLikely),
                                    variable("A", Strength::kLikely), library}};
  const Comparison second{.causes = {library_alone, variable("OMP", Strength::kLikely),
                                     variable("B", Strength::kLikely), pattern_2}};
  const auto common = CommonCauses({&first, &second});
  ASSERT_EQ(common.size(), 3u);
  EXPECT_EQ(common[0].statement, "OMP changed");
  EXPECT_EQ(common[1].code, "library_changed");
  EXPECT_EQ(common[1].evidence, std::vector<std::string>{"numpy: 1 in A, 2 in B"});
  EXPECT_EQ(common[2].code, "progress_changed");
  EXPECT_EQ(common[2].strength, Strength::kPossible);
  EXPECT_TRUE(common[2].evidence.empty());
  EXPECT_TRUE(CommonCauses({}).empty());
}

}  // namespace
}  // namespace rharness
