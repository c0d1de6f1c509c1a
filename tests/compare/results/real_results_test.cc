// Published results and reference points, as far as they lie beside the source tree.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "compare/results/compare_results.h"
#include "compare/results/rcp.h"
#include "tests/compare/results/result_log.h"

namespace rharness {
namespace {

class RealResults : public testing::Test {
 protected:
  void SetUp() override {
    results_ = SharedData() / "mlperf-v5.1";
    points_ = SharedData() / "mlperf-rcp" / "training_5.1.0";
    for (const auto& folder : {results_, points_}) {
      if (!std::filesystem::is_directory(folder)) {
        GTEST_SKIP() << "no " << folder << "; RHARNESS_SHARED_DATA names its place";
      }
    }
  }

  std::vector<ResultGroup> Groups() const {
    auto groups = LoadResultGroups(results_);
    EXPECT_TRUE(groups.ok()) << groups.error().ToString();
    return groups.ok() ? *groups : std::vector<ResultGroup>();
  }

  RcpDecision Decide(const ResultGroup& group) const {
    const auto set = LoadRcpSetOf(points_, group.benchmark);
    EXPECT_TRUE(set.ok()) << set.error().ToString();
    const auto decision = CheckRcp(group, *set);
    EXPECT_TRUE(decision.ok()) << decision.error().ToString();
    return *decision;
  }

  std::filesystem::path results_;
  std::filesystem::path points_;
};

double Mean(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

void PrintRow(const ResultGroup& group, const GroupComparison* comparison, const RcpDecision& rcp) {
  const std::string against =
      comparison == nullptr
          ? "reference"
          : fmt::format("{:.4f} [{:.4f}, {:.4f}] p {:.2g} {}{}", comparison->ratio,
                        comparison->ratio_low, comparison->ratio_high, comparison->p,
                        GroupOutcomeName(comparison->outcome),
                        comparison->same_configuration ? "" : " (hyperparameters differ)");
  fmt::print("{:<52} n {:>2} mean {:>10.1f} {:<72} RCP {} {} {:.6g} >= {:.6g} x{:.6f} {:.1f} min\n",
             group.name, group.runs.size(), Mean(group.converged), against,
             rcp.pass ? "pass" : "FAIL", RcpCaseName(rcp.which), rcp.submission_mean.value_or(0),
             rcp.min_mean, rcp.normalisation, rcp.normalised_score_minutes.value_or(0));
}

TEST_F(RealResults, EveryAcceptedSubmissionIsReadAndPassesTheRcpRule) {
  const std::vector<ResultGroup> groups = Groups();
  ASSERT_EQ(groups.size(), 8u);
  std::size_t runs = 0;
  for (const ResultGroup& group : groups) {
    runs += group.runs.size();
    EXPECT_TRUE(group.coherent) << group.name;
    EXPECT_TRUE(group.seeds_distinct) << group.name;
    EXPECT_EQ(group.not_converged, 0) << group.name;
    for (const Finding& finding : group.findings) {
      ADD_FAILURE() << group.name << ": " << finding.message;
    }
    const RcpDecision decision = Decide(group);
    EXPECT_TRUE(decision.pass) << group.name << ": " << decision.message;
    EXPECT_EQ(decision.which, RcpCase::kFound) << group.name;
    EXPECT_EQ(decision.runs, decision.runs_expected) << group.name;
    // What the official checker 4.1.59 returned for these folders.
    const bool amd = group.submitter == "AMD";
    EXPECT_DOUBLE_EQ(decision.normalisation, amd ? 1.004011735824202 : 1.0) << group.name;
  }
  EXPECT_EQ(runs, 55u);
}

TEST_F(RealResults, SubmittersAgainstTheFirstOfTheirBenchmark) {
  const std::vector<ResultGroup> groups = Groups();
  std::map<std::string, std::size_t> references;
  for (std::size_t i = 0; i < groups.size(); ++i) references.try_emplace(groups[i].benchmark, i);
  for (const auto& [benchmark, reference] : references) {
    const auto set = LoadRcpSetOf(points_, benchmark);
    ASSERT_TRUE(set.ok());
    const ResultRules rules{.prior = FitRcpPrior(*set)};
    fmt::print("\n{} (prior: s0 {:.4f}, df {:.1f}, {} records)\n", benchmark,
               std::sqrt(rules.prior.s0_squared), rules.prior.df, rules.prior.configurations);
    PrintRow(groups[reference], nullptr, Decide(groups[reference]));
    const auto comparisons = CompareWithReference(groups, reference, rules);
    EXPECT_FALSE(comparisons.empty());
    for (const GroupComparison& comparison : comparisons) {
      for (const ResultGroup& group : groups) {
        if (group.name == comparison.candidate && group.benchmark == benchmark) {
          PrintRow(group, &comparison, Decide(group));
        }
      }
      for (const MetricDecision& last : comparison.evaluations) {
        fmt::print(
            "    shown for margins above {:.3g} %; {}\n", 100.0 * comparison.shown_margin_ratio,
            comparison.outcome != GroupOutcome::kUndecided ? "decided"
            : comparison.convergence.more_reruns > 0
                ? fmt::format("{} more runs would decide", comparison.convergence.more_reruns)
                : "no number of further runs would decide");
        fmt::print("    advisory: {}: {:.5f} {:+.5f} (p {:.2g})\n", last.name, last.mean_history,
                   last.difference, last.p_difference);
      }
      EXPECT_NE(comparison.outcome, GroupOutcome::kNotComparable) << comparison.candidate;
      EXPECT_NE(comparison.outcome, GroupOutcome::kSame) << comparison.candidate;
      ASSERT_EQ(comparison.curves.size(), 1u);
      EXPECT_GE(comparison.curves[0].positions.size(), 4u);
    }
  }
}

TEST_F(RealResults, HyperparametersOfTwoSystemsOfOneSubmitterDiffer) {
  const std::vector<ResultGroup> groups = Groups();
  const GroupComparison comparison = CompareGroups(groups.at(0), groups.at(1), {});
  ASSERT_EQ(comparison.differences.size(), 2u);
  EXPECT_EQ(comparison.differences[0].key, "opt_base_learning_rate");
  EXPECT_EQ(comparison.differences[0].reference, "0.001");
  EXPECT_EQ(comparison.differences[0].candidate, "0.0008");
  EXPECT_EQ(comparison.differences[1].key, "opt_end_learning_rate");
}

TEST_F(RealResults, EveryReferenceFileIsReadAndPrunedAsByTheOfficialChecker) {
  // Batch sizes that stay, from the official checker 4.1.59.
  const std::map<std::string, std::vector<std::int64_t>> kept = {
      {"bert", {448, 4608, 6144, 6912, 12288, 13056, 16384}},
      {"dlrm_dcnv2", {32768, 55296, 160000}},
      {"flux1", {512, 1024, 2048, 4096}},
      {"llama2_70b_lora", {8, 16, 128}},
      {"llama31_405b", {1152, 2304, 4608}},
      {"llama31_8b", {16, 32, 64, 96, 128}},
      {"retinanet", {256, 320, 768, 2560, 4096}},
      {"rgat", {4096, 32768, 262144}}};
  for (const auto& [benchmark, sizes] : kept) {
    const auto set = LoadRcpSetOf(points_, benchmark);
    ASSERT_TRUE(set.ok()) << set.error().ToString();
    std::vector<std::int64_t> found;
    for (const RcpRecord& record : set->records) {
      if (!record.pruned) found.push_back(record.batch_size);
    }
    EXPECT_EQ(found, sizes) << benchmark;
  }
}

TEST_F(RealResults, TheDefaultMarginLiesWhereTheReferencePointsPutIt) {
  std::vector<double> deviations;
  std::vector<double> allowed;
  for (const auto& entry : std::filesystem::directory_iterator(points_)) {
    const auto set = LoadRcpSet(entry.path());
    ASSERT_TRUE(set.ok()) << set.error().ToString();
    for (const RcpRecord& record : set->records) {
      double sum = 0.0;
      double squares = 0.0;
      for (const double count : record.counts) sum += std::log(count);
      const double mean = sum / static_cast<double>(record.counts.size());
      for (const double count : record.counts) squares += std::pow(std::log(count) - mean, 2);
      deviations.push_back(std::sqrt(squares / static_cast<double>(record.counts.size() - 1)));
      allowed.push_back(record.max_speedup - 1.0);
    }
  }
  ASSERT_EQ(deviations.size(), 49u);
  std::sort(deviations.begin(), deviations.end());
  std::sort(allowed.begin(), allowed.end());
  fmt::print("{} records: median deviation {:.4f}, median speedup {:.4f}, ninth decile {:.4f}\n",
             deviations.size(), deviations[24], allowed[24], allowed[43]);
  EXPECT_NEAR(deviations[24], 0.042, 0.0005);
  EXPECT_NEAR(allowed[24], 0.033, 0.0005);
  EXPECT_GT(kDefaultMarginRatio, allowed[24]);
  EXPECT_LT(kDefaultMarginRatio, allowed[43]);
}

}  // namespace
}  // namespace rharness
