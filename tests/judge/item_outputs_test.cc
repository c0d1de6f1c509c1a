// Items of several reruns, decided together.
#include "harness/judge/item_outputs.h"

#include <gtest/gtest.h>

#include "harness/judge/judge_run.h"

namespace rharness {
namespace {

std::vector<Comparison> RerunsWith(const std::vector<MetricVerdict>& verdicts) {
  std::vector<Comparison> reruns(verdicts.size());
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    reruns[i].metrics.push_back({.name = "acc", .verdict = verdicts[i]});
  }
  return reruns;
}

TEST(MergeItemDecisions, PassesOrDriftsOnlyWhereAllRerunsDo) {
  using enum MetricVerdict;
  const auto merged = [](const std::vector<MetricVerdict>& verdicts) {
    const auto all = MergeItemDecisions(RerunsWith(verdicts));
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? kNeedsConfirmation : all[0].verdict;
  };
  EXPECT_EQ(merged({kWithin, kWithin}), kWithin);
  EXPECT_EQ(merged({kDrifted, kDrifted}), kDrifted);
  for (const auto& mixed : std::vector<std::vector<MetricVerdict>>{{kWithin, kDrifted, kWithin},
                                                                   {kDrifted, kWithin},
                                                                   {kDrifted, kInconclusive},
                                                                   {kInconclusive, kDrifted},
                                                                   {kWithin, kInconclusive}}) {
    EXPECT_EQ(merged(mixed), kInconclusive);
  }
  EXPECT_EQ(MergeItemDecisions(RerunsWith({kWithin, kDrifted}))[0].reason, "not_in_all_reruns");
}

MetricDecision Of(const std::string& name, double recorded, double rerun) {
  MetricDecision metric{.name = name};
  metric.history = {recorded};
  metric.reruns = {rerun};
  return metric;
}

// A pass says nothing of what was not compared.
TEST(MergeReruns, NamesOutputsThatNothingCompares) {
  Manifest manifest;
  manifest.origin.emplace();
  manifest.origin->fields = {{"outputs", Grade::kMissing, "predictions.txt"},
                             {"data[0]", Grade::kHint, "the run read it"}};
  manifest.notes = {"output '/a/b.npy' is not compared: it lies elsewhere",
                    "log.csv: times, rates and memory are not compared: time", "a note"};
  EXPECT_EQ(MergeReruns(manifest, {Comparison()}).notes,
            (std::vector<std::string>{"not compared: predictions.txt", manifest.notes[0],
                                      manifest.notes[1]}));
}

// A logged number that is not the mean of its items decides, too.
TEST(TakeItemDecisions, LeavesALoggedMetricThatIsAnotherNumber) {
  MetricDecision items = Of("acc", 0.8, 0.8);
  items.verdict = MetricVerdict::kWithin;
  items.reason = "equal";
  std::vector<MetricDecision> metrics = {Of("acc", 0.8, 0.1)};
  TakeItemDecisions({items}, &metrics);
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].reruns, std::vector<double>{0.1});
  EXPECT_EQ(metrics[1].name, "acc (items)");
  metrics = {Of("acc", 0.8, 0.8004)};
  TakeItemDecisions({items}, &metrics);
  ASSERT_EQ(metrics.size(), 1u);
  EXPECT_EQ(metrics[0].reason, "equal");
}

}  // namespace
}  // namespace rharness
