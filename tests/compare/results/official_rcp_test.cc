// The RCP mode against limits that the official checker printed for every release, and the
// benchmarks whose records it reads in their own way.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "compare/results/rcp.h"
#include "harness/base/files.h"
#include "tests/compare/results/result_log.h"

namespace rharness {
namespace {

// Runs that converged at these counts; 0: it did not.
ResultGroup GroupOf(const RcpSet& set, std::int64_t batch_size, const std::vector<double>& counts) {
  std::vector<MllogRun> runs;
  for (const double count : counts) {
    MllogRun& run = runs.emplace_back();
    run.file = fmt::format("result_{}.txt", runs.size());
    run.benchmark = std::string(set.rules.name);
    run.global_batch_size = batch_size;
    run.unit = set.unit;
    if (count == 0) continue;
    run.status = MllogStatus::kSuccess;
    run.converged_at = count;
    if (set.unit == ConvergenceUnit::kSteps) run.converged_at_step = count;
  }
  auto group = BuildResultGroup("group", std::move(runs));
  EXPECT_TRUE(group.ok()) << group.error().ToString();
  return *group;
}

RcpDecision CheckCounts(const RcpSet& set, std::int64_t batch_size,
                        const std::vector<double>& counts) {
  const auto decision = CheckRcp(GroupOf(set, batch_size, counts), set);
  EXPECT_TRUE(decision.ok()) << decision.error().ToString();
  return *decision;
}

RcpSet SetOf(std::string_view benchmark, const std::string& counts) {
  const auto set = ParseRcpSet(fmt::format(R"({{"a": {{"Benchmark": "{}", "BS": 512,
                                           "Epochs to converge": [{}]}}}})",
                                           benchmark, counts),
                               "rcps.json");
  EXPECT_TRUE(set.ok()) << set.error().ToString();
  return *set;
}

struct OfficialLimit {
  std::string release;
  std::string benchmark;
  std::int64_t batch_size = 0;
  std::string which;
  double limit = 0.0;
};

std::vector<OfficialLimit> OfficialLimits() {
  const auto text = ReadFile(std::filesystem::path(RHARNESS_SOURCE_DIR) / "tests" / "compare" /
                             "results" / "official_limits.txt");
  EXPECT_TRUE(text.ok()) << text.error().ToString();
  std::vector<OfficialLimit> limits;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    OfficialLimit one;
    std::istringstream(line) >> one.release >> one.benchmark >> one.batch_size >> one.which >>
        one.limit;
    limits.push_back(one);
  }
  return limits;
}

// The next count that the checker can read: thousandths of an epoch, whole samples.
double CountAbove(double limit) {
  return limit > 100.0 ? std::ceil(limit) : std::ceil(limit * 1000.0) / 1000.0;
}

TEST(OfficialRcp, EveryReleaseHasTheLimitsOfTheOfficialChecker) {
  const std::filesystem::path folder = SharedData() / "mlperf-rcp";
  if (!std::filesystem::is_directory(folder)) {
    GTEST_SKIP() << "no " << folder << "; RHARNESS_SHARED_DATA names its place";
  }
  std::map<std::filesystem::path, RcpSet> sets;
  const std::vector<OfficialLimit> limits = OfficialLimits();
  ASSERT_EQ(limits.size(), 310u);
  for (const OfficialLimit& official : limits) {
    const auto file = folder / official.release / fmt::format("rcps_{}.json", official.benchmark);
    if (!sets.contains(file)) {
      auto loaded = LoadRcpSet(file);
      ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
      sets.emplace(file, std::move(*loaded));
    }
    const RcpSet& set = sets.at(file);
    const auto runs = static_cast<std::size_t>(set.rules.submission_runs);
    const double above = CountAbove(official.limit);
    const double below = above - (official.limit > 100.0 ? 1.0 : 0.001);
    const RcpDecision pass =
        CheckCounts(set, official.batch_size, std::vector<double>(runs, above));
    const std::string where = fmt::format("{} {}", file.string(), official.batch_size);
    EXPECT_TRUE(pass.pass) << where;
    EXPECT_EQ(RcpCaseName(pass.which), official.which) << where;
    EXPECT_DOUBLE_EQ(pass.min_mean, official.limit) << where;
    if (below >= official.limit) continue;  // the limit is a count, up to the last bit
    EXPECT_FALSE(CheckCounts(set, official.batch_size, std::vector<double>(runs, below)).pass)
        << where;
  }
  EXPECT_EQ(sets.size(), 78u) << "files";
}

// gpt3 counts samples beyond what stands for a run that did not converge, which then is the one
// that the trimming takes for the fastest: olympic, 1.1e9 of 1e9, 1.1e9 and 1.2e9 remains.
TEST(OfficialRcp, SamplesOfGpt3AreBeyondTheCountOfARunThatDidNotConverge) {
  const RcpSet set = SetOf("gpt3", "1.2e9, 1.2e9, 1.2e9, 1.2e9, 1.2e9, 1.2e9");
  EXPECT_EQ(set.records[0].mean, 1.2e9);
  EXPECT_TRUE(CheckCounts(set, 512, {1.2e9, 1.2e9, 1.2e9}).pass);
  EXPECT_EQ(CheckCounts(set, 512, {1.1e9, 1.2e9, 0}).submission_mean, 1.1e9);
}

TEST(OfficialRcp, ReferencePointsOfSdAreThoseOfStableDiffusionInSteps) {
  const RcpSet set = SetOf("sd", "5000, 5000, 5000, 5000");
  EXPECT_EQ(set.rules.name, kStableDiffusion);
  EXPECT_EQ(set.unit, ConvergenceUnit::kSteps);
  EXPECT_TRUE(CheckCounts(set, 512, std::vector<double>(10, 5000)).pass);
  EXPECT_FALSE(CheckCounts(set, 512, std::vector<double>(10, 4999)).pass);
  const RcpSet samples = SetOf("stable_diffusion", "5000, 5000, 5000, 5000");
  const auto mixed = CheckRcp(GroupOf(samples, 512, std::vector<double>(10, 5000)), set);
  ASSERT_FALSE(mixed.ok()) << "samples are no steps";
  EXPECT_NE(mixed.error().message.find("counts samples, the reference points count steps"),
            std::string::npos)
      << mixed.error().message;
}

TEST(OfficialRcp, DlrmIsReadWithTheRunsOfItsRules) {
  const RcpSet set = SetOf("dlrm", "1.75, 1.75, 1.75, 1.75");
  EXPECT_EQ(set.rules.submission_runs, 5);
  EXPECT_TRUE(CheckCounts(set, 512, std::vector<double>(5, 1.75)).pass);
}

TEST(OfficialRcp, EpochsAreRoundedToThousandthsAsPythonDoes) {
  const RcpSet set = SetOf("dlrm", "1.75, 1.75, 1.75, 1.75");
  // 0.0625 and 0.1875 are exact in binary and lie halfway: both go to the even neighbour.
  EXPECT_DOUBLE_EQ(*CheckCounts(set, 512, std::vector<double>(5, 0.0625)).submission_mean, 0.062);
  EXPECT_DOUBLE_EQ(*CheckCounts(set, 512, std::vector<double>(5, 0.1875)).submission_mean, 0.188);
  EXPECT_TRUE(CheckCounts(set, 512, std::vector<double>(5, 1.7496)).pass) << "1.75, rounded";
}

}  // namespace
}  // namespace rharness
