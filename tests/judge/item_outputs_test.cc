// Items of several reruns, decided together.
#include "harness/judge/item_outputs.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace rharness
