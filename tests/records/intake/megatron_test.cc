// Megatron's golden values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/records/intake/source_tree.h"
#include "tests/shared_data.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kGolden[] =
    R"({"lm loss": {"start_step": 1, "end_step": 3, "step_interval": 1,
        "values": {"1": 10.5, "2": 9.25, "3": "nan"}},
        "num-zeros": {"start_step": 1, "end_step": 3, "step_interval": 1,
        "values": {"1": 5.0, "2": 6.0, "3": 7.0}}})";

class Megatron : public SourceTree {};

TEST_F(Megatron, GoldenValuesAreCurvesAndAllElseIsMissing) {
  Put("gpt/case_a/golden_values_dev_dgx_h100.json", kGolden);
  const ImportOutcome outcome = Import();
  ASSERT_EQ(outcome.runs.size(), 1u);
  const Manifest& run = outcome.runs[0];
  EXPECT_THAT(run.run_id, HasSubstr("megatron-case_a-golden_values_dev_dgx_h100-"));
  EXPECT_EQ(run.family, "case_a");
  ASSERT_NE(CurveOf(run, "lm loss"), nullptr);
  EXPECT_THAT(CurveOf(run, "lm loss")->steps, ElementsAre(1, 2, 3));
  EXPECT_THAT(WorthOf(run, "curves.lm loss"), HasSubstr("exact"));
  EXPECT_EQ(MetricOf(run, "lm loss"), 9.25);
  for (const char* path : {"command", "data", "image", "code.commit", "seeds"}) {
    EXPECT_EQ(WorthOf(run, path), "missing") << path;
  }
  EXPECT_TRUE(HasRemark(run, "golden values are curves alone"));
  EXPECT_EQ(Import("", "gpt/case_a/golden_values_dev_dgx_h100.json").runs.at(0).run_id, run.run_id);
}

TEST_F(Megatron, MemberThatIsNoCurveIsNamedAndTheRestKept) {
  Put("a/golden_values_one.json",
      std::string(R"({"iteration_timing_avg": 0.119, )") + (kGolden + 1));
  const ImportOutcome outcome = Import();
  ASSERT_EQ(outcome.runs.size(), 1u);
  EXPECT_NE(CurveOf(outcome.runs[0], "lm loss"), nullptr);
  EXPECT_TRUE(HasRemark(outcome.runs[0], "iteration_timing_avg"));
}

TEST_F(Megatron, BrokenFileIsRefusedAndTheOthersAreKept) {
  Put("a/golden_values_one.json", kGolden);
  Put("b/golden_values_two.json", "");
  Put("c/golden_values_three.json", R"({"lm loss": {"values": {"x": 1}}})");
  Put("d/golden_values_four.json", std::string(kGolden).substr(0, 90));
  Put("e/golden_values_five.json", std::string(200'000, '['));
  PutLink("a/golden_values_link.json", "/etc/passwd");
  const ImportOutcome outcome = Import();
  EXPECT_EQ(outcome.runs.size(), 1u);
  EXPECT_EQ(outcome.refused.size(), 5u);
  for (const auto& [where, why] : outcome.refused) EXPECT_THAT(where, HasSubstr("golden_values_"));
}

TEST(MegatronRound, IsImportedWhole) {
  const auto folder = SharedData("megatron");
  if (!folder) GTEST_SKIP() << kNoSharedData;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*folder)) {
    // The others are of inference, and empty ones.
    if (entry.path().extension() != ".json") continue;
    files += ReadFile(entry.path())->find("\"start_step\"") != std::string::npos ? 1 : 0;
  }
  ImportRequest request;
  request.source = *folder;
  const ImportOutcome outcome = ImportAll(request);
  std::set<std::string> ids;
  for (const Manifest& run : outcome.runs) ids.insert(run.run_id);
  EXPECT_TRUE(outcome.refused.empty());
  EXPECT_EQ(outcome.runs.size(), files);
  EXPECT_EQ(ids.size(), files);
}

}  // namespace
}  // namespace rharness
