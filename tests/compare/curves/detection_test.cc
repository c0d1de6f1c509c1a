// What the comparison of loss curves finds and what it does not, on published curves: pairs before
// and after real upgrades, with faults planted, each set judged without itself.
//
// Source of the curves: NVIDIA Megatron-LM, golden values before and after commits 2795ebde97,
// cb12e3dea4, f5b2ec0130, 6e091e1b68 (upgrades) and 93ebf8d72f (no change of losses).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "compare/curves/upgrade_record.h"
#include "tests/compare/curves/curve_sets.h"
#include "tests/shared_data.h"

namespace rharness {
namespace {

class Detection : public testing::Test {
 protected:
  void SetUp() override {
    const auto folder = SharedData("megatron");
    if (!folder) GTEST_SKIP() << kNoSharedData;
    auto sets = LoadLabelledSets(*folder);
    ASSERT_TRUE(sets.ok()) << sets.error().ToString();
    for (SetTable& table : TableOf(*sets)) tables_[table.name] = std::move(table);
    ASSERT_EQ(tables_.size(), 5u);
  }
  static int Of(const std::map<std::string, int>& states, const std::string& state) {
    const auto found = states.find(state);
    return found == states.end() ? 0 : found->second;
  }
  std::map<std::string, SetTable> tables_;
};

TEST_F(Detection, FindsTheControlIdenticalAndOneCurveUnableToTell) {
  const SetTable& control = tables_["control-nan-cleanup"];
  ASSERT_TRUE(control.control);
  // A throughput test records a loss of 0 at every step: equal, and no evidence.
  EXPECT_EQ(control.small, (std::map<std::string, int>{{"identical", 43}, {"vacuous", 1}}));
  EXPECT_TRUE(control.between.empty());
  EXPECT_TRUE(control.large.empty());
}

TEST_F(Detection, CallsNoAcceptedUpgradeDriftedOrOpenAndFindsEveryLargeChange) {
  std::vector<SetTable> all;
  int accepted = 0, large = 0;
  for (const auto& [name, table] : tables_) {
    all.push_back(table);
    if (table.control) continue;
    EXPECT_EQ(Of(table.small, "beyond"), 0) << name;
    EXPECT_EQ(Of(table.small, "undecided"), 0) << name;
    accepted += Of(table.small, "within") + Of(table.small, "identical");
    large += Of(table.large, "beyond");
    EXPECT_EQ(table.large.size(), table.large.count("beyond")) << name;
  }
  fmt::print("{}", Print(all));
  EXPECT_EQ(accepted, 355);
  EXPECT_EQ(large, 11);
}

TEST_F(Detection, OfPlantedFaultsIsThatOfTheTable) {
  const std::map<std::string, double> least = {{"offset 0.1 %", 0.85},
                                               {"from halfway 0.1 %", 0.7},
                                               {"growing 0.1 %", 0.6},
                                               {"offset 0.5 %", 0.99},
                                               {"from halfway 0.5 %", 0.99},
                                               {"growing 0.5 %", 0.93},
                                               {"spike 0.5 %", 0.95},
                                               {"offset 1 %", 1.0},
                                               {"spike 1 %", 0.99},
                                               {"learning rate -2 %", 0.9},
                                               {"learning rate +2 %", 0.9},
                                               {"doubled", 1.0},
                                               {"zeros", 1.0}};
  for (const auto& [name, table] : tables_) {
    std::size_t seen = 0;
    for (const auto& [fault, counted] : table.faults) {
      const auto expected = least.find(fault);
      if (expected == least.end()) continue;
      ++seen;
      EXPECT_GE(counted.trials, 43) << name;
      EXPECT_GE(counted.Share(), expected->second) << name << ": " << fault;
    }
    EXPECT_EQ(seen, least.size()) << name;
  }
}

TEST_F(Detection, TheRecordIsThatOfThePublishedCurves) {
  const std::map<std::string_view, std::string> sets = {{"PyTorch 25.05", "bump-pytorch-25.05"},
                                                        {"PyTorch 25.03", "bump-pytorch-25.03"},
                                                        {"NGC 26.02", "bump-ngc-26.02"},
                                                        {"TE 2.16", "bump-te-2.16"}};
  for (const UpgradeScore& upgrade : kPublishedUpgrades) {
    const SetTable& table = tables_[sets.at(upgrade.name)];
    EXPECT_NEAR(table.largest_score, upgrade.largest, 5e-4) << upgrade.name;
    EXPECT_EQ(Of(table.small, "within"), upgrade.pairs) << upgrade.name;
  }
}

}  // namespace
}  // namespace rharness
