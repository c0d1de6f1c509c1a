// Runs of one configuration, recorded and rerun: their verdicts and that of their family.
#include "harness/judge/judge_family.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/judge/judge_siblings.h"
#include "tests/compare/metrics/paired_seeds.h"

namespace rharness {
namespace {

using testing::HasSubstr;

// One run a value, each of a seed of its own, and its one rerun.
std::vector<RunState> RunsOf(const std::vector<double>& recorded,
                             const std::vector<double>& reruns) {
  std::vector<RunState> runs(recorded.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Manifest& manifest = runs[i].manifest;
    manifest.run_id = fmt::format("mlp-{}", i + 1);
    manifest.family = "mlp";
    manifest.command = {"train"};
    manifest.seeds = {{"numpy", static_cast<std::int64_t>(i + 1)}};
    manifest.metrics = {{.name = "val_loss",
                         .value = recorded[i],
                         .direction = MetricDirection::kLower,
                         .primary = true,
                         .margin = 0.01}};
    runs[i].evidence[1].run_id = manifest.run_id;
    runs[i].evidence[1].metrics.metrics["val_loss"] = reruns[i];
    Comparison rerun{.is_rerun = true};
    rerun.ends = {{.index = 1, .state = RerunEnd::State::kCompared}};
    runs[i].reruns[1] = rerun;
  }
  return runs;
}

std::optional<FamilyComparison> Judge(std::vector<RunState>* runs) {
  std::vector<Manifest> recorded;
  std::vector<RunState*> members;
  for (RunState& run : *runs) {
    recorded.push_back(run.manifest);
    members.push_back(&run);
  }
  MergeAndJudgeSiblings(members);
  return JudgeTogether(members, Family(recorded));
}

TEST(JudgeTogether, FindsTwentyFourSeedsEquivalentUnderAnotherKernel) {
  std::vector<RunState> runs = RunsOf(kCalmRecorded, kCalmOtherKernel);
  const auto family = Judge(&runs);
  ASSERT_TRUE(family);
  EXPECT_EQ(family->verdict, Verdict::kEquivalent);
  EXPECT_EQ(family->runs.size(), 24U);
  EXPECT_TRUE(family->apart.empty());
  for (const RunState& run : runs) {
    EXPECT_EQ(run.comparison.verdict, Verdict::kEquivalent) << run.comparison.headline;
  }
}

TEST(JudgeTogether, FindsThemDriftedWithAHigherLearningRate) {
  std::vector<RunState> runs = RunsOf(kCalmRecorded, kCalmFasterLearning);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::array<LayerComparison, 5>& layers = runs[i].reruns[1].layers;
    for (std::size_t layer = 0; layer < layers.size(); ++layer)
      layers[layer].layer = kLayers[layer];
    layers[2].state = LayerState::kDiffers;
    layers[2].differences = {{.layer = Layer::kEnvironment,
                              .key = "software.numpy",
                              .recorded = "1.26",
                              .observed = "2.4"}};
    if (i == 7) {  // of one run alone
      layers[2].differences.push_back({.layer = Layer::kEnvironment,
                                       .key = "variable.OMP_NUM_THREADS",
                                       .recorded = "1",
                                       .observed = "2"});
    }
  }
  runs[4].evidence[1].metrics.metrics["val_loss"] = kCalmRecorded[4];
  const auto family = Judge(&runs);
  ASSERT_TRUE(family);
  EXPECT_EQ(family->verdict, Verdict::kDrifted);
  EXPECT_THAT(family->headline, HasSubstr("on average over 24 runs"));
  ASSERT_EQ(family->causes.size(), 1U);
  EXPECT_EQ(family->causes[0].code, "library_changed");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i == 4) {  // equal to its record
      EXPECT_NE(runs[i].comparison.verdict, Verdict::kDrifted);
    } else {
      EXPECT_EQ(runs[i].comparison.verdict, Verdict::kDrifted) << runs[i].comparison.headline;
      EXPECT_EQ(runs[i].comparison.headline, runs[0].comparison.headline);
    }
  }
}

TEST(JudgeTogether, LeavesOutARunOnOtherData) {
  std::vector<RunState> runs = RunsOf(kCalmRecorded, kCalmOtherKernel);
  runs[2].evidence[1].metrics.metrics["val_loss"] = 3.0;
  runs[2].reruns[1].layers[0].state = LayerState::kDiffers;
  runs[2].reruns[1].layers[0].differences = {
      {Layer::kData, "train", FactWeight::kIdentity, "a", "b"}};
  const auto family = Judge(&runs);
  ASSERT_TRUE(family);
  EXPECT_EQ(family->verdict, Verdict::kEquivalent);
  EXPECT_EQ(family->runs.size(), 23U);
  EXPECT_EQ(runs[2].comparison.verdict, Verdict::kNotComparable);
}

TEST(JudgeTogether, ClaimsNothingOfTwoSeedsOrOfRunsThatPromiseBits) {
  std::vector<RunState> two = RunsOf({1.0, 2.0}, {1.0, 2.0});
  EXPECT_FALSE(Judge(&two));
  std::vector<RunState> bitwise = RunsOf(kCalmRecorded, kCalmRecorded);
  for (RunState& run : bitwise) run.manifest.determinism.declared = "bitwise";
  EXPECT_FALSE(Judge(&bitwise));
}

TEST(JudgeTogether, HoldsRunsWithoutSeedsToTheMeanOfAllRecords) {
  std::vector<RunState> runs = RunsOf(kCalmRecorded, kCalmOtherKernel);
  for (RunState& run : runs) run.manifest.seeds.clear();
  EXPECT_FALSE(Judge(&runs));
  ASSERT_EQ(runs[0].comparison.metrics.size(), 1U);
  EXPECT_EQ(runs[0].comparison.metrics[0].history.size(), 24U);
  EXPECT_EQ(runs[0].comparison.metrics[0].pairs, 0);
}

TEST(Family, CountsRecordsOfOneSeedOnce) {
  std::vector<Manifest> members;
  const std::vector<std::pair<int, double>> recorded = {{1, 1.0}, {1, 3.0}, {2, 5.0}};
  for (const auto& [seed, value] : recorded) {
    Manifest& member = members.emplace_back();
    member.run_id = fmt::format("r{}", members.size());
    member.seeds = {{"init", seed}};
    member.metrics = {{.name = "loss", .value = value}};
  }
  const Family family(members);
  ASSERT_EQ(family.Values("loss").size(), 1U);
  EXPECT_THAT(family.Values("loss").begin()->second, testing::ElementsAre(2.0, 5.0));
}

TEST(NameApart, TellsConfigurationsOfOneFamilyByTheirFirstRuns) {
  std::vector<FamilyComparison> families = {{.name = "a", .family = "a", .runs = {"a-1"}},
                                            {.name = "a", .family = "a", .runs = {"a-9"}},
                                            {.name = "b", .family = "b", .runs = {"b-1"}}};
  NameApart(&families);
  EXPECT_EQ(families[0].name, "a (as a-1)");
  EXPECT_EQ(families[1].name, "a (as a-9)");
  EXPECT_EQ(families[2].name, "b");
}

}  // namespace
}  // namespace rharness
