// Grids of evaluations and their bias, against hand computation.
#include "compare/results/evaluation_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compare/results/compare_results.h"
#include "tests/compare/results/result_log.h"

namespace rharness {
namespace {

using testing::HasSubstr;

const LogSpec kLlamaBySamples = {
    .benchmark = "llama31_8b", .batch_size = 32, .position_key = "samples_count"};

// Ten runs evaluated every `interval` that reach the target at these multiples of it.
ResultGroup Evaluated(const std::string& name, double interval, std::vector<double> multiples,
                      int first_seed) {
  for (double& multiple : multiples) multiple *= interval;
  return MakeGroup(name, RunsReaching(multiples, interval, first_seed, kLlamaBySamples));
}

const std::vector<double> kFine = {14, 14, 16, 15, 15, 15, 15, 14, 14, 14};

TEST(EvaluationGrid, IsThatOfTheLastEvaluations) {
  LogSpec spec = kLlamaBySamples;
  spec.evaluations = {{100, 1}, {12256, 1}, {24544, 1}, {36832, 1}, {49120, 1}, {50000, 1}};
  const auto grid = GridOf(MakeRun(spec));
  ASSERT_TRUE(grid.has_value());
  EXPECT_EQ(grid->interval, 12288.0) << "the median, whatever the last distance";
  EXPECT_EQ(grid->offset, 50000.0 - 4 * 12288.0);
  spec.evaluations = {{0.05, 1}, {0.1, 1}, {0.15, 1}, {0.2, 1}};
  spec.position_key = "epoch_num";
  spec.benchmark = "rgat";
  const auto fractions = GridOf(MakeRun(spec));
  ASSERT_TRUE(fractions.has_value());
  EXPECT_NEAR(fractions->interval, 0.05, 1e-12);
  EXPECT_EQ(fractions->offset, 0.0);
  EXPECT_EQ(DescribeGrid(*fractions, ConvergenceUnit::kEpochs), "every 0.05 epochs");
  EXPECT_EQ(DescribeGrid({12288, 12256}, ConvergenceUnit::kSamples),
            "every 12288 samples, from 12256 on");
  EXPECT_FALSE(GridOf(MakeRun({.evaluations = {}, .status = "aborted"})).has_value());
}

// On a grid twice as coarse 14 and 16 stay and 15 becomes 16: four of ten.
TEST(EvaluationGrid, TheBiasOfACoarserGridIsExactWhereItHoldsNothingElse) {
  const ResultGroup fine = Evaluated("fine", 12288, kFine, 1);
  EXPECT_NEAR(GridBias(fine.runs, {24576, 0}), std::pow(16.0 / 15.0, 0.4), 1e-12);
  EXPECT_NEAR(GridBias(fine.runs, {12288, 0}), 1.0, 1e-12);
}

// A finer grid takes half of the distance that is saved: (12288 - 3072) / 2 of 15 x 12288.
TEST(EvaluationGrid, TheBiasOfAFinerGridIsHalfOfWhatItSaves) {
  const ResultGroup group = Evaluated("a", 12288, {15, 15, 15}, 1);
  EXPECT_NEAR(GridBias(group.runs, {3072, 0}), (15.0 - 0.375) / 15.0, 1e-12);
  // A grid that is only moved saves nothing on average.
  EXPECT_NEAR(GridBias(group.runs, {12288, 32}), 1.0, 1e-12);
}

TEST(EvaluationGrid, IsRecordedAndSetsGroupsApart) {
  const ResultGroup fine = Evaluated("fine", 12288, kFine, 1);
  EXPECT_EQ(fine.context.at("evaluation_grid"), "every 12288 samples");
  // The same runs, evaluated half as often.
  const ResultGroup coarse = Evaluated("coarse", 24576, {7, 7, 8, 8, 8, 8, 8, 7, 7, 7}, 1);
  const GroupComparison comparison = CompareGroups(fine, coarse, {});
  EXPECT_EQ(comparison.outcome, GroupOutcome::kNotComparable);
  EXPECT_NEAR(comparison.grid_bias, std::pow(16.0 / 15.0, 0.4), 1e-12);
  const Finding& finding = comparison.findings.front();
  EXPECT_EQ(finding.code, "evaluation_grid_differs");
  EXPECT_TRUE(finding.decisive);
  EXPECT_EQ(finding.observed, "every 24576 samples");
  EXPECT_EQ(finding.limit, "every 12288 samples");
  EXPECT_THAT(finding.message, HasSubstr("moves the count at the target by +2.6 %"));
  EXPECT_NEAR(CompareGroups(coarse, fine, {}).grid_bias, std::pow(15.0 / 16.0, 0.4), 1e-12);
}

TEST(EvaluationGrid, AGridThatMovesNothingIsListedAndCompared) {
  const ResultGroup a = Evaluated("a", 100, std::vector<double>(10, 100), 1);
  LogSpec spec = kLlamaBySamples;
  const ResultGroup b = MakeGroup("b", RunsReaching(std::vector<double>(10, 10000), 50, 101, spec));
  const GroupComparison comparison = CompareGroups(a, b, {});
  EXPECT_EQ(comparison.outcome, GroupOutcome::kEquivalent) << "half of 50 of 10000: 0.25 %";
  ASSERT_EQ(comparison.differences.size(), 1u);
  EXPECT_EQ(comparison.differences[0].key, "evaluation_grid");
  EXPECT_FALSE(comparison.differences[0].hyperparameter);
  EXPECT_TRUE(comparison.same_configuration);
}

TEST(EvaluationGrid, AGroupOfTwoGridsHasNoMean) {
  std::vector<LogSpec> specs = RunsReaching({12, 12, 12, 12, 12}, 3, 1);
  for (std::size_t i : {3, 4}) specs[i] = RunsReaching({11}, 1, 10 + static_cast<int>(i)).front();
  const ResultGroup group = MakeGroup("a", specs);
  EXPECT_FALSE(group.coherent);
  ASSERT_TRUE(HasFinding(group.findings, "mixed_evaluation_grid"));
}

// Published runs of one system, as they would have been counted with every second evaluation left
// out: the count is that of the remaining logs, and the bias says it beforehand.
TEST(EvaluationGrid, PredictsTheCountsOfPublishedRunsOnACoarserGrid) {
  const auto folder = SharedData() / "mlperf-v5.1/AMD/results/MI350X_EPYC_9575F_pytorch/llama31_8b";
  if (!std::filesystem::is_directory(folder)) {
    GTEST_SKIP() << "no " << folder << "; RHARNESS_SHARED_DATA names its place";
  }
  const auto group = LoadResultGroup(folder);
  ASSERT_TRUE(group.ok()) << group.error().ToString();
  EXPECT_EQ(group->context.at("evaluation_grid"), "every 12288 samples, from 12256 on");
  for (const std::size_t every : {2, 3, 4}) {
    double logs = 0.0;
    for (const MllogRun& run : group->runs) {
      // Evaluations number every, 2 x every, ...; beyond the log they go on alike.
      const auto n = static_cast<double>(run.curves.front().evaluations.size());
      const auto step = static_cast<double>(every);
      const double counted = *run.converged_at + 12288.0 * (std::ceil(n / step) * step - n);
      logs += std::log(counted / *run.converged_at) / static_cast<double>(group->runs.size());
    }
    const double interval = 12288.0 * static_cast<double>(every);
    const double bias = GridBias(group->runs, {interval, interval - 32.0});
    EXPECT_NEAR(bias, std::exp(logs), 1e-9) << every;
    fmt::print("every evaluation of {}: {:+.2f} %\n", every, 100.0 * (bias - 1.0));
  }
}

}  // namespace
}  // namespace rharness
