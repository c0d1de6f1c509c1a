// Single values beside a record, with and without further runs.
#include <gtest/gtest.h>

#include <cmath>

#include "harness/judge/comparison/compare_subjects.h"

namespace rharness {
namespace {

Subject Reported(double value) {
  Subject subject;
  subject.side = {"m.json", SideKind::kManifest, ""};
  subject.manifest.metrics = {{.name = "val_loss", .value = value, .primary = true}};
  return subject;
}

TEST(SingleValues, AreWithinRoundingOfTheirOwnRecordWhateverFurtherRunsThereAre) {
  const std::vector<MetricDecision> found =
      CompareMetrics(Reported(0.5), Reported(0.50002), {Reported(0.49), Reported(0.48)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].verdict, MetricVerdict::kWithin);
  EXPECT_EQ(found[0].reason, "within_rounding");
  // What is said to be within the margin is.
  EXPECT_LE(std::abs(found[0].difference), found[0].margin);
  EXPECT_NEAR(found[0].difference, 2e-5, 1e-12);
}

// The caller's margin holds instead of the record's own.
TEST(SingleValues, AreDecidedByTheMarginThatIsGiven) {
  Subject a = Reported(0.5);
  a.manifest.metrics[0].margin = 0.25;
  const auto found = [&](const Margins& margins) {
    return CompareMetrics(a, Reported(0.51), {}, margins).at(0);
  };
  EXPECT_DOUBLE_EQ(found({}).margin, 0.25);
  EXPECT_DOUBLE_EQ(found({{"val_loss", 0.001}}).margin, 0.001);
  EXPECT_NE(found({{"val_loss", 0.001}}).verdict, MetricVerdict::kWithin);
  EXPECT_DOUBLE_EQ(found({{"other", 0.001}}).margin, 0.25);
}

TEST(SingleValues, AreOpenBeyondRounding) {
  const std::vector<MetricDecision> found = CompareMetrics(Reported(0.5), Reported(0.501), {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].verdict, MetricVerdict::kInconclusive);
}

}  // namespace
}  // namespace rharness
