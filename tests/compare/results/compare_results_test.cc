// Two groups and many: outcomes, and what they rest on.
#include "compare/results/compare_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compare/results/fisher_exact.h"
#include "tests/compare/results/result_log.h"

namespace rharness {
namespace {

using testing::ElementsAre;

const LogSpec kLlama = {
    .benchmark = "llama31_8b", .batch_size = 32, .position_key = "samples_count"};

ResultGroup Llama(const std::string& name, const std::vector<double>& counts, int first_seed) {
  return MakeGroup(name, RunsReaching(counts, 100, first_seed, kLlama));
}

// Scatter of about 1 %.
const std::vector<double> kCounts = {9900,  10000, 10100, 10000, 9900,
                                     10100, 10000, 9900,  10100, 10000};

std::vector<double> Scaled(double factor) {
  std::vector<double> counts = kCounts;
  for (double& count : counts) count = std::round(count * factor);
  return counts;
}

TEST(CompareResults, EqualMeansWithLittleScatterAreEquivalent) {
  const GroupComparison comparison =
      CompareGroups(Llama("a", kCounts, 1), Llama("b", kCounts, 101), {});
  EXPECT_EQ(comparison.outcome, GroupOutcome::kEquivalent);
  EXPECT_DOUBLE_EQ(comparison.ratio, 1.0);
  EXPECT_NEAR(comparison.convergence.margin, 0.0487901641694, 1e-12) << "ln 1.05";
  // Logs of 9900, 10000, 10100 as 3, 4, 3 of ten: variance 6/9 x 1e-4 but for third order; the
  // interval is t(0.95; 18) = 1.734064 standard errors to each side.
  const double deviation = 0.01 * std::sqrt(6.0 / 9.0);
  EXPECT_NEAR(std::log(comparison.ratio_high), 1.734064 * deviation * std::sqrt(0.2), 1e-5);
  EXPECT_NEAR(comparison.shown_margin_ratio, comparison.ratio_high - 1.0, 1e-12);
  EXPECT_TRUE(comparison.same_configuration);
  ASSERT_FALSE(comparison.findings.empty());
  EXPECT_TRUE(comparison.findings.front().decisive);
}

TEST(CompareResults, TenPercentMoreSamplesAreAShift) {
  const GroupComparison comparison =
      CompareGroups(Llama("a", kCounts, 1), Llama("b", Scaled(1.1), 101), {});
  EXPECT_EQ(comparison.outcome, GroupOutcome::kShifted);
  EXPECT_NEAR(comparison.ratio, 1.1, 1e-4);
  EXPECT_LT(comparison.p, 1e-6);
}

TEST(CompareResults, AWiderDeclaredMarginCoversTheSameShift) {
  const GroupComparison comparison =
      CompareGroups(Llama("a", kCounts, 1), Llama("b", Scaled(1.1), 101), {.margin_ratio = 0.2});
  EXPECT_EQ(comparison.outcome, GroupOutcome::kEquivalent);
  EXPECT_THAT(comparison.convergence.reason, testing::HasSubstr("detectable_shift"));
}

TEST(CompareResults, AShiftLikeTheMarginStaysUndecided) {
  const std::vector<double> wide = {9000, 11000, 10000, 9500, 10500};
  const GroupComparison comparison = CompareGroups(Llama("a", wide, 1), Llama("b", wide, 101), {});
  EXPECT_EQ(comparison.outcome, GroupOutcome::kUndecided);
  EXPECT_GT(comparison.shown_margin_ratio, 0.05);
}

TEST(CompareResults, CoarseEvaluationsCannotShowASmallMargin) {
  const ResultGroup a = MakeGroup("a", RunsReaching({4, 4, 4, 4, 4}, 1, 1));
  const ResultGroup b = MakeGroup("b", RunsReaching({4, 4, 4, 4, 4}, 1, 11));
  const GroupComparison comparison = CompareGroups(a, b, {});
  EXPECT_EQ(comparison.outcome, GroupOutcome::kUndecided) << "no scatter is no evidence";
  EXPECT_TRUE(HasFinding(comparison.findings, "evaluations_too_far_apart"));
  // One evaluation is ln(1 + 1/4) wide; SE = that / sqrt(12) x sqrt(2/5), t(0.95; 8) = 1.859548.
  EXPECT_NEAR(std::log(comparison.ratio_high),
              1.859548 * std::log(1.25) / std::sqrt(12.0) * std::sqrt(0.4), 1e-6);
}

TEST(CompareResults, ScatterOverSeveralEvaluationsSeesPastTheirDistance) {
  // Evaluations 6.9 % apart, as of Llama 3.1 8B; margin 5 %.
  std::vector<double> counts;
  for (int i = 0; i < 40; ++i) counts.push_back(i % 2 == 0 ? 172032 : 184320);
  const ResultGroup a = MakeGroup("a", RunsReaching(counts, 12288, 1, kLlama));
  const ResultGroup b = MakeGroup("b", RunsReaching(counts, 12288, 101, kLlama));
  const GroupComparison comparison = CompareGroups(a, b, {});
  EXPECT_EQ(comparison.outcome, GroupOutcome::kEquivalent);
  EXPECT_FALSE(HasFinding(comparison.findings, "evaluations_too_far_apart"));
}

TEST(CompareResults, TheSameRunsAreTheSame) {
  const std::vector<LogSpec> specs = RunsReaching(kCounts, 100, 1, kLlama);
  const std::vector<LogSpec> reversed(specs.rbegin(), specs.rend());
  const ResultGroup group = MakeGroup("a", specs);
  EXPECT_EQ(CompareGroups(group, MakeGroup("b", reversed), {}).outcome, GroupOutcome::kSame);
  std::vector<LogSpec> changed = specs;
  double& value = changed[3].evaluations[1].second;
  value = std::nextafter(value, 1.0);
  EXPECT_EQ(CompareGroups(group, MakeGroup("b", changed), {}).outcome, GroupOutcome::kEquivalent);
}

TEST(CompareResults, AnotherBatchSizeOrBenchmarkIsNotComparable) {
  LogSpec larger = kLlama;
  larger.batch_size = 64;
  const ResultGroup a = Llama("a", kCounts, 1);
  const GroupComparison batch =
      CompareGroups(a, MakeGroup("b", RunsReaching(kCounts, 100, 101, larger)), {});
  EXPECT_EQ(batch.outcome, GroupOutcome::kNotComparable);
  EXPECT_EQ(batch.findings.front().code, "batch_size_differs");
  const GroupComparison benchmark =
      CompareGroups(a, MakeGroup("b", RunsReaching({4, 4}, 1, 1)), {});
  EXPECT_EQ(benchmark.findings.front().code, "benchmark_differs");
  EXPECT_TRUE(benchmark.convergence.name.empty());
}

TEST(CompareResults, AGroupOfSeveralConfigurationsIsNotComparable) {
  std::vector<LogSpec> specs = RunsReaching(kCounts, 100, 101, kLlama);
  specs[0].learning_rate = "0.5";
  const GroupComparison comparison =
      CompareGroups(Llama("a", kCounts, 1), MakeGroup("b", specs), {});
  EXPECT_EQ(comparison.outcome, GroupOutcome::kNotComparable);
  EXPECT_EQ(comparison.findings.front().code, "not_one_configuration");
}

TEST(CompareResults, HyperparametersThatDifferAreListedAndStillCompared) {
  LogSpec faster = kLlama;
  faster.learning_rate = "0.001";
  const GroupComparison comparison = CompareGroups(
      Llama("a", kCounts, 1), MakeGroup("b", RunsReaching(kCounts, 100, 101, faster)), {});
  EXPECT_EQ(comparison.outcome, GroupOutcome::kEquivalent);
  EXPECT_FALSE(comparison.same_configuration);
  ASSERT_EQ(comparison.differences.size(), 1u);
  EXPECT_EQ(comparison.differences[0].key, "opt_base_learning_rate");
  EXPECT_EQ(comparison.differences[0].reference, "0.0001");
  EXPECT_EQ(comparison.differences[0].candidate, "0.001");
  EXPECT_TRUE(HasFinding(comparison.findings, "hyperparameter_differs"));
}

TEST(CompareResults, ADuplicateSeedIsNoReplicate) {
  std::vector<LogSpec> specs = RunsReaching(kCounts, 100, 101, kLlama);
  specs[1].seed = specs[0].seed;
  const GroupComparison comparison =
      CompareGroups(Llama("a", kCounts, 1), MakeGroup("b", specs), {});
  EXPECT_EQ(comparison.outcome, GroupOutcome::kUndecided);
  EXPECT_EQ(comparison.findings.front().code, "duplicate_seed");
}

TEST(CompareResults, RunsThatMissTheTargetAreNeverLeftOut) {
  std::vector<double> counts = kCounts;
  counts[0] = -30000;
  const ResultGroup a = Llama("a", kCounts, 1);
  const GroupComparison one = CompareGroups(a, Llama("b", counts, 101), {});
  EXPECT_EQ(one.outcome, GroupOutcome::kUndecided);
  EXPECT_EQ(one.findings.front().code, "runs_not_converged");
  EXPECT_DOUBLE_EQ(one.p, 1.0);
  for (double& count : counts) count = -30000;
  const GroupComparison none = CompareGroups(a, Llama("b", counts, 101), {});
  EXPECT_EQ(none.outcome, GroupOutcome::kShifted);
  EXPECT_NEAR(none.p, 2.0 / 184756.0, 1e-12) << "two tables of C(20, 10)";
}

TEST(FisherExact, AgreesWithPublishedTables) {
  EXPECT_NEAR(FisherExactTwoSided(3, 1, 1, 3), 34.0 / 70.0, 1e-12);  // the lady tasting tea
  EXPECT_NEAR(FisherExactTwoSided(5, 0, 0, 5), 2.0 / 252.0, 1e-12);
  EXPECT_NEAR(FisherExactTwoSided(1, 9, 11, 3), 0.002759456, 1e-9);
  EXPECT_DOUBLE_EQ(FisherExactTwoSided(0, 0, 3, 2), 1.0);
  EXPECT_DOUBLE_EQ(FisherExactTwoSided(4, 0, 9, 0), 1.0);
}

TEST(CompareResults, CurvesHoldTheEvaluationsThatEveryRunHas) {
  const auto spec = [](int seed, std::vector<std::pair<double, double>> evaluations) {
    return LogSpec{.seed = seed, .evaluations = std::move(evaluations)};
  };
  const ResultGroup a =
      MakeGroup("a", {spec(1, {{1, 0.1}, {2, 0.2}, {3, 0.3}}), spec(2, {{1, 0.3}, {2, 0.4}})});
  const ResultGroup b = MakeGroup(
      "b", {spec(3, {{1, 0.5}, {2, 0.6}, {3, 0.7}}), spec(4, {{1, 0.5}, {2, 0.8}, {3, 0.9}})});
  const GroupComparison comparison = CompareGroups(a, b, {});
  ASSERT_EQ(comparison.curves.size(), 1u);
  const CommonCurve& curve = comparison.curves[0];
  EXPECT_THAT(curve.positions, ElementsAre(1, 2)) << "one run ended before 3";
  EXPECT_NEAR(curve.reference_mean[0], 0.2, 1e-15);
  EXPECT_NEAR(curve.candidate_mean[1], 0.7, 1e-15);
  EXPECT_NEAR(curve.reference_deviation[0], std::sqrt(0.02), 1e-15);
  EXPECT_EQ(curve.candidate_deviation[0], 0.0);
  ASSERT_EQ(comparison.evaluations.size(), 1u);
  EXPECT_EQ(comparison.evaluations[0].name, "eval_accuracy at 2 epochs");
  EXPECT_FALSE(comparison.evaluations[0].primary);
  EXPECT_NE(comparison.evaluations[0].verdict, MetricVerdict::kWithin) << "no margin was declared";
}

TEST(CompareResults, AShiftAmongManyPairsMustSurviveHolm) {
  const std::vector<double> a = {9600, 10000, 10400, 10000, 10000};
  std::vector<double> b = a;
  for (double& count : b) count += 640;
  std::vector<ResultGroup> groups = {Llama("a", a, 1), Llama("b", b, 11)};
  const GroupComparison alone = CompareWithReference(groups, 0, {}).front();
  ASSERT_EQ(alone.outcome, GroupOutcome::kShifted);
  ASSERT_GT(alone.p, 0.001);
  for (int i = 0; i < 9; ++i) groups.push_back(Llama("c", a, 21 + 10 * i));
  const std::vector<GroupComparison> all = CompareWithReference(groups, 0, {});
  ASSERT_EQ(all.size(), 10u);
  EXPECT_NEAR(all[0].p, 10.0 * all[0].convergence.p_difference, 1e-12);
  EXPECT_EQ(all[0].convergence.verdict, MetricVerdict::kDrifted);
  EXPECT_EQ(all[0].outcome, GroupOutcome::kUndecided);
  EXPECT_EQ(all[0].findings.front().code, "not_shown_over_all_pairs");
}

TEST(CompareResults, PairsAreOfOneBenchmark) {
  const std::vector<ResultGroup> groups = {Llama("a", kCounts, 1),
                                           MakeGroup("r", RunsReaching({4, 4}, 1, 1)),
                                           Llama("b", kCounts, 101), Llama("c", kCounts, 201)};
  const std::vector<GroupComparison> pairs = CompareAllPairs(groups, {});
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[1].reference + pairs[1].candidate, "ac");
  EXPECT_EQ(CompareWithReference(groups, 1, {}).size(), 0u);
}

TEST(CompareResults, APriorNeedsFiveGroupsThatScatter) {
  std::vector<ResultGroup> groups;
  for (int i = 0; i < 5; ++i) groups.push_back(Llama("g", Scaled(1.0 + 0.01 * i), 1 + 20 * i));
  std::vector<const ResultGroup*> four;
  for (int i = 0; i < 4; ++i) four.push_back(&groups[static_cast<std::size_t>(i)]);
  EXPECT_EQ(FitGroupPrior(four).df, 0.0);
  four.push_back(&groups[4]);
  const VariancePrior prior = FitGroupPrior(four);
  EXPECT_GT(prior.df, 0.0);
  // Equal variances: exp(ln s^2 - digamma(9/2) + ln(9/2)), with digamma(4.5) = 1.388871.
  EXPECT_NEAR(prior.s0_squared, 6.0 / 9.0 * 1e-4 * 4.5 / std::exp(1.388871), 5e-8);
}

}  // namespace
}  // namespace rharness
