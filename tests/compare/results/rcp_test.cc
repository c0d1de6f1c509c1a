// The RCP mode against hand computation and against outputs of the official checker.
#include "compare/results/rcp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "compare/results/rcp_statistics.h"
#include "harness/base/files.h"
#include "harness/base/json.h"
#include "tests/compare/results/result_log.h"

namespace rharness {
namespace {

using testing::HasSubstr;

// Batch size to counts.
using Points = std::map<int, std::vector<double>>;

std::string WriteRcps(const std::string& benchmark, const Points& points,
                      const std::string& key = "Epochs to converge") {
  Json json = Json::MakeObject();
  for (const auto& [batch_size, counts] : points) {
    Json array = Json::MakeArray();
    for (const double count : counts) array.Append(count);
    json.Set(fmt::format("{}_ref_{}", benchmark, batch_size),
             Json::MakeObject({{"Benchmark", benchmark},
                               {"BS", batch_size},
                               {"Hyperparams", Json::MakeObject()},
                               {key, array}}));
  }
  return json.Dump();
}

RcpSet MakeSet(const std::string& benchmark, const Points& points) {
  auto set = ParseRcpSet(WriteRcps(benchmark, points), "rcps.json");
  EXPECT_TRUE(set.ok()) << set.error().ToString();
  return *set;
}

std::vector<double> Constant(double count, std::size_t n = 10) {
  return std::vector<double>(n, count);
}

RcpDecision Check(const RcpSet& set, int batch_size, const std::vector<double>& counts,
                  const RcpOptions& options = {}) {
  LogSpec common{.benchmark = std::string(set.rules.name), .batch_size = batch_size};
  if (set.rules.unit == ConvergenceUnit::kSamples) common.position_key = "samples_count";
  const auto decision =
      CheckRcp(MakeGroup("group", RunsReaching(counts, 0.25, 1, common)), set, options);
  EXPECT_TRUE(decision.ok()) << decision.error().ToString();
  return *decision;
}

// Olympic mean of eight: (3 x 39 + 3 x 40 + 2 x 41) / 8 = 319 / 8. Squares about 40: ten of them
// sum to 10. t(0.95; 8 + 3 - 2) = 1.833113 from a printed table.
const std::vector<double> kByHand = {39, 42, 40, 41, 39, 40, 41, 39, 40, 39};

TEST(Rcp, StatisticsOfARecordAreThoseComputedByHand) {
  const RcpRecord record = MakeSet("retinanet", {{256, kByHand}}).records[0];
  EXPECT_DOUBLE_EQ(record.mean, 39.875);
  EXPECT_DOUBLE_EQ(record.standard_deviation, 1.0);
  const double exact = 39.875 - 1.833113 * std::sqrt(1.0 / 8 + 1.0 / 3);
  EXPECT_NEAR(record.min_mean, exact, 1e-4);
  EXPECT_DOUBLE_EQ(record.max_speedup, 39.875 / record.min_mean);
}

TEST(Rcp, AgreesWithTheReferenceVectors) {
  const std::filesystem::path file = SharedData() / "statistics" / "vectors.json";
  if (!std::filesystem::exists(file)) {
    GTEST_SKIP() << "no " << file << "; RHARNESS_SHARED_DATA names its folder";
  }
  const auto json = ReadJsonFile(file);
  ASSERT_TRUE(json.ok()) << json.error().ToString();
  int seen = 0;
  for (const Json& vector : json->Find("vectors")->AsArray()) {
    if (vector.Find("method")->AsString() != "mlperf_rcp") continue;
    ++seen;
    const Json& in = *vector.Find("inputs");
    ASSERT_EQ(in.Find("submission_runs")->ToInt64(), 5) << "as retinanet has";
    std::vector<double> counts;
    for (const Json& count : in.Find("epochs")->AsArray()) counts.push_back(*count.ToDouble());
    const RcpRecord record = MakeSet("retinanet", {{256, counts}}).records[0];
    const auto expected = [&](std::string_view key) {
      return vector.Find("expected")->Find(key)->ToDouble().value();
    };
    EXPECT_NEAR(record.mean, expected("rcp_mean"), 1e-12);
    EXPECT_NEAR(record.standard_deviation, expected("rcp_std_pop"), 1e-12);
    EXPECT_NEAR(record.min_mean, expected("min_epochs"), 1e-4);
    EXPECT_NEAR(record.max_speedup, expected("max_speedup"), 1e-4);
  }
  EXPECT_EQ(seen, 3);
}

TEST(Rcp, NoScatterMakesTheMeanItselfTheLimit) {
  const RcpSet set = MakeSet("retinanet", {{256, Constant(4)}});
  EXPECT_EQ(set.records[0].min_mean, 4.0);
  EXPECT_TRUE(Check(set, 256, {4, 4, 4, 4, 4}).pass);
  const RcpDecision faster = Check(set, 256, {4, 3.75, 4, 4, 3.75});
  EXPECT_FALSE(faster.pass);
  EXPECT_EQ(faster.which, RcpCase::kFound);
  EXPECT_NEAR(*faster.submission_mean, (4 + 4 + 3.75) / 3, 1e-12);
}

TEST(Rcp, FasterWithinTheLimitPassesWithANormalisedScore) {
  const RcpSet set = MakeSet("retinanet", {{256, kByHand}});
  const RcpDecision decision = Check(set, 256, {39, 39, 39, 39, 39});
  EXPECT_TRUE(decision.pass);
  EXPECT_DOUBLE_EQ(decision.speedup, 39.875 / 39.0);
  EXPECT_DOUBLE_EQ(decision.normalisation, 39.875 / 39.0);
  EXPECT_DOUBLE_EQ(decision.score_minutes.value(), 10.0);
  EXPECT_DOUBLE_EQ(decision.normalised_score_minutes.value(), 10.0 * 39.875 / 39.0);
  const RcpDecision slower = Check(set, 256, {60, 60, 60, 60, 60});
  EXPECT_TRUE(slower.pass) << "the rule is one-sided";
  EXPECT_EQ(slower.normalisation, 1.0);
  EXPECT_FALSE(Check(set, 256, {38.5, 38.5, 38.5, 38.5, 38.5}).pass);
}

TEST(Rcp, BatchSizesBetweenRecordsAreInterpolated) {
  const RcpSet set = MakeSet("retinanet", {{100, Constant(10)}, {300, Constant(20)}});
  const RcpDecision decision = Check(set, 150, {12.5, 12.5, 12.5, 12.5, 12.5});
  EXPECT_EQ(decision.which, RcpCase::kInterpolated);
  EXPECT_TRUE(decision.pass);
  EXPECT_EQ(decision.record->name, "retinanet_interp_150");
  EXPECT_DOUBLE_EQ(decision.record->mean, 12.5);
  EXPECT_FALSE(Check(set, 150, {12.25, 12.25, 12.25, 12.25, 12.25}).pass);
}

TEST(Rcp, BatchSizesAboveAllRecordsMissOne) {
  const RcpDecision decision = Check(MakeSet("ssd", {{100, Constant(10)}}), 101, Constant(99, 5));
  EXPECT_FALSE(decision.pass);
  EXPECT_EQ(decision.which, RcpCase::kMissingRecord);
  EXPECT_FALSE(decision.record.has_value());
}

TEST(Rcp, BatchSizesBelowAllRecordsAreHeldAgainstTheSmallest) {
  const RcpSet set = MakeSet("ssd", {{100, Constant(10)}, {200, Constant(20)}});
  const RcpDecision slower = Check(set, 99, Constant(10, 5));
  EXPECT_TRUE(slower.pass);
  EXPECT_EQ(slower.which, RcpCase::kSmallestRecord);
  const RcpDecision faster = Check(set, 99, Constant(9.75, 5));
  EXPECT_FALSE(faster.pass);
  EXPECT_EQ(faster.which, RcpCase::kMissingRecord);
}

TEST(Rcp, SlowRecordsArePruned) {
  const RcpSet set = MakeSet("ssd", {{50, Constant(12)},  // smaller than the fastest
                                     {100, Constant(10)},
                                     {200, Constant(30)},  // the line there is at 15
                                     {300, Constant(20)}});
  EXPECT_TRUE(set.records[0].pruned);
  EXPECT_FALSE(set.records[1].pruned);
  EXPECT_TRUE(set.records[2].pruned);
  EXPECT_FALSE(set.records[3].pruned);
  EXPECT_EQ(Check(set, 200, Constant(15, 5)).which, RcpCase::kInterpolated);
  EXPECT_EQ(Check(set, 200, Constant(15, 5), {.use_pruned = false}).which, RcpCase::kFound);
  EXPECT_EQ(Check(set, 50, Constant(10, 5)).which, RcpCase::kSmallestRecord);
}

TEST(Rcp, ARecordOnTheLineStays) {
  const RcpSet set =
      MakeSet("ssd", {{100, Constant(10)}, {200, Constant(15)}, {300, Constant(20)}});
  EXPECT_FALSE(set.records[1].pruned);
}

TEST(Rcp, PruningNeverGoesBackToAnEarlierRecord) {
  // 200 lies under the line to 300; once 300 is gone it lies above the line to 400, and stays.
  const RcpSet set = MakeSet(
      "ssd",
      {{100, Constant(10)}, {200, Constant(11.2)}, {300, Constant(13)}, {400, Constant(13.1)}});
  EXPECT_TRUE(set.records[2].pruned);
  EXPECT_FALSE(set.records[1].pruned);
}

TEST(Rcp, OneRunMayMissTheTargetAndCountsAsTheSlowest) {
  const RcpSet set = MakeSet("retinanet", {{256, Constant(4)}});
  const RcpDecision one = Check(set, 256, {4, 4, -8, 4, 4});
  EXPECT_TRUE(one.pass);
  EXPECT_EQ(one.submission_mean, 4.0);
  EXPECT_DOUBLE_EQ(one.score_minutes.value(), 10.0);
  const RcpDecision two = Check(set, 256, {4, 4, -8, -8, 4});
  EXPECT_FALSE(two.pass);
  EXPECT_EQ(two.which, RcpCase::kNotConverged);
}

TEST(Rcp, Unet3dDropsFourOfEachSideAndAllowsFourMisses) {
  std::vector<double> reference = Constant(100, 72);
  reference.insert(reference.end(), {1, 1, 1, 1, 1000, 1000, 1000, 1000});
  const RcpSet set = MakeSet("unet3d", {{8, reference}});
  EXPECT_DOUBLE_EQ(set.records[0].mean, 100.0);
  std::vector<double> counts = Constant(100, 40);
  for (int i = 0; i < 4; ++i) counts[static_cast<std::size_t>(i)] = -300;
  const RcpDecision four = Check(set, 8, counts);
  EXPECT_TRUE(four.pass);
  EXPECT_DOUBLE_EQ(four.submission_mean.value(), 100.0);
  counts[4] = -300;
  EXPECT_EQ(Check(set, 8, counts).which, RcpCase::kNotConverged);
}

TEST(Rcp, TheLargestLlamaHasAnAllowanceFromRules5On) {
  const RcpSet set = MakeSet("llama31_405b", {{1152, Constant(300'000, 6)}});
  const std::vector<double> counts = {254'000, 254'000, 254'000};
  EXPECT_TRUE(Check(set, 1152, counts).pass);
  EXPECT_DOUBLE_EQ(Check(set, 1152, counts).min_mean, 300'000.0 - 46'080.0);
  EXPECT_FALSE(Check(set, 1152, counts, {.rules_from_5_0 = false}).pass);
  EXPECT_FALSE(Check(set, 1152, {253'900, 253'900, 253'900}).pass);
}

TEST(Rcp, TooFewRunsNeverPass) {
  const RcpDecision decision = Check(MakeSet("ssd", {{100, Constant(10)}}), 100, {20, 20});
  EXPECT_FALSE(decision.pass);
  EXPECT_FALSE(decision.submission_mean.has_value());
  EXPECT_EQ(decision.runs_expected, 5);
}

TEST(Rcp, AGroupOfTwoBatchSizesFails) {
  std::vector<LogSpec> specs = RunsReaching({4, 4, 4, 4, 4}, 1, 1);
  specs[3].batch_size = 512;
  const auto decision = CheckRcp(MakeGroup("a", specs), MakeSet("retinanet", {{256, Constant(4)}}));
  ASSERT_TRUE(decision.ok());
  EXPECT_FALSE(decision->pass);
  EXPECT_EQ(decision->which, RcpCase::kMixedBatchSizes);
  EXPECT_FALSE(CheckRcp(MakeGroup("a", specs), MakeSet("ssd", {{256, Constant(4)}})).ok());
}

struct OfficialRow {
  int batch_size;
  double count;  // of each of ten runs
  bool pass;
  std::string_view which;
  double mean;  // 0: no record
  double min_mean;
  double normalisation;
};

// Five values, four times each; the checker prunes the record of 3000.
Points OfficialPoints() {
  const std::map<int, std::vector<double>> values = {{1000, {0.65, 0.7, 0.75, 0.675, 0.725}},
                                                     {2000, {0.62, 0.72, 0.82, 0.67, 0.77}},
                                                     {3000, {0.9, 0.95, 1.0, 0.925, 0.975}},
                                                     {4000, {0.75, 0.8, 0.85, 0.775, 0.825}},
                                                     {8000, {1.05, 1.1, 1.15, 1.075, 1.125}}};
  Points points;
  for (const auto& [batch_size, five] : values) {
    for (int i = 0; i < 4; ++i) {
      points[batch_size].insert(points[batch_size].end(), five.begin(), five.end());
    }
  }
  return points;
}

constexpr OfficialRow kOfficial[] = {
    {1000, 0.7, true, "found", 0.7, 0.6743225097656249, 1.0},
    {1000, 0.68, true, "found", 0.7, 0.6743225097656249, 1.0294117647058822},
    {1000, 0.65, false, "found", 0.7, 0.6743225097656249, 1.0769230769230769},
    {2000, 0.7, true, "found", 0.72, 0.6686279296875, 1.0285714285714287},
    {2000, 0.65, false, "found", 0.72, 0.6686279296875, 1.1076923076923075},
    {2500, 0.74, true, "interpolated", 0.74, 0.6958728027343749, 1.0},
    {3000, 0.74, true, "interpolated", 0.76, 0.72219482421875, 1.027027027027027},
    {3000, 0.76, true, "interpolated", 0.76, 0.72219482421875, 1.0},
    {6000, 0.9, false, "interpolated", 0.95, 0.9247482299804689, 1.0555555555555556},
    {6000, 0.95, true, "interpolated", 0.95, 0.9247482299804689, 1.0},
    {8000, 1.08, true, "found", 1.1, 1.0743194580078126, 1.0185185185185186},
    {900, 0.7, true, "smallest_record", 0.7, 0.6743225097656249, 1.0},
    {900, 0.6, false, "missing_record", 0.7, 0.6743225097656249, 1.1666666666666667},
    {9000, 2.0, false, "missing_record", 0.0, 0.0, 0.0},
};

// Printed by the official checker 4.1.59 (numpy 2.4.6, scipy 1.17.1) for these records of
// dlrm_dcnv2.
TEST(Rcp, GivesTheNumbersOfTheOfficialChecker) {
  const Points points = OfficialPoints();
  const RcpSet set = MakeSet("dlrm_dcnv2", points);
  for (const OfficialRow& row : kOfficial) {
    const RcpDecision decision = Check(set, row.batch_size, Constant(row.count));
    EXPECT_EQ(decision.pass, row.pass) << row.batch_size << " " << row.count;
    EXPECT_EQ(RcpCaseName(decision.which), row.which) << row.batch_size;
    ASSERT_EQ(decision.record.has_value(), row.mean > 0.0) << row.batch_size;
    if (!decision.record) continue;
    EXPECT_DOUBLE_EQ(decision.record->mean, row.mean) << row.batch_size;
    EXPECT_DOUBLE_EQ(decision.record->min_mean, row.min_mean) << row.batch_size;
    EXPECT_DOUBLE_EQ(decision.normalisation, row.normalisation) << row.batch_size;
  }
}

TEST(Rcp, AddsUpInTheOrderOfNumpy) {
  // Eight lanes meet before the rest: (2^53 + 1) + 1 is 2^53, but 2^53 + (1 + 1) is not.
  constexpr double kBig = 9007199254740992.0;
  EXPECT_EQ(NumpySum(std::vector<double>{kBig, 1, 1}), kBig);
  EXPECT_EQ(NumpySum(std::vector<double>{kBig, 0, 1, 1, 0, 0, 0, 0}), kBig + 2);
  EXPECT_EQ(NumpySum(std::vector<double>(1000, 0.5)), 500.0);
  EXPECT_EQ(NumpySum(std::vector<double>()), 0.0);
}

TEST(Rcp, RefusesFilesThatNoCheckerCouldUse) {
  const auto error_of = [](const std::string& text) {
    const auto set = ParseRcpSet(text, "rcps.json");
    return set.ok() ? "accepted" : set.error().ToString();
  };
  EXPECT_THAT(error_of("[]"), HasSubstr("object of records"));
  EXPECT_THAT(error_of("{}"), HasSubstr("1 to 10000 records"));
  EXPECT_THAT(error_of(WriteRcps("nosuch", {{8, Constant(4)}})), HasSubstr("without rules"));
  EXPECT_THAT(error_of(WriteRcps("ssd", {{0, Constant(4)}})), HasSubstr("batch size"));
  EXPECT_THAT(error_of(WriteRcps("ssd", {{8, Constant(4, 2)}})), HasSubstr("2 counts"));
  EXPECT_THAT(error_of(WriteRcps("ssd", {{8, Constant(0)}})), HasSubstr("a count of 0"));
  EXPECT_THAT(error_of(WriteRcps("ssd", {{8, Constant(1e16)}})), HasSubstr("a count of"));
  EXPECT_THAT(error_of(WriteRcps("flux1", {{8, Constant(4)}})), HasSubstr("samples to converge"));
  EXPECT_EQ(error_of(WriteRcps("flux1", {{8, Constant(4, 20)}}, "samples to converge")),
            "accepted");
  EXPECT_THAT(error_of("{\"a\": {\"Benchmark\": \"ssd\", \"BS\": 8, \"Epochs to converge\": "
                       "[4, 4, 4, 4]}, \"b\": {\"Benchmark\": \"ssd\", \"BS\": 8, "
                       "\"Epochs to converge\": [5, 5, 5, 5]}}"),
              HasSubstr("a and b have one batch size"));
  EXPECT_FALSE(LoadRcpSetOf("folder", "../ssd").ok());
}

TEST(Rcp, APriorNeedsFiveRecordsThatScatter) {
  Points points = {{1, {1, 2, 3, 4, 5}},
                   {2, {1, 2, 3, 4, 5}},
                   {3, {2, 4, 6, 8, 9}},
                   {4, {1, 3, 3, 4, 5}},
                   {5, Constant(4)}};
  EXPECT_EQ(FitRcpPrior(MakeSet("ssd", points)).df, 0.0);
  points[6] = {2, 3, 4, 5, 7};
  const VariancePrior prior = FitRcpPrior(MakeSet("ssd", points));
  EXPECT_GT(prior.df, 0.0);
  EXPECT_EQ(prior.configurations, 5);
}

}  // namespace
}  // namespace rharness
