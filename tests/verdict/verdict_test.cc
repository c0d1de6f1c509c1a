// Verdicts in words, and the exit codes that they come to.
#include "harness/verdict/verdict.h"

#include <gtest/gtest.h>

namespace rharness {
namespace {

TEST(ExitCode, FollowsTheWorstVerdictAndNeverPassesNothing) {
  using enum Verdict;
  EXPECT_EQ(ExitCodeOf({}), 3);
  EXPECT_EQ(ExitCodeOf({kIdentical, kEquivalent}), 0);
  EXPECT_EQ(ExitCodeOf({kIdentical, kInconclusive}), 3);
  EXPECT_EQ(ExitCodeOf({kIdentical, kNotComparable}), 3);
  EXPECT_EQ(ExitCodeOf({kInconclusive, kInfra}), 4);
  EXPECT_EQ(ExitCodeOf({kFailed, kIdentical}), 4);
  EXPECT_EQ(ExitCodeOf({kFailed, kDrifted, kInconclusive}), 1);
}

TEST(Standing, IsGoodBadOrOpenAndOpenSaysNothing) {
  using enum Verdict;
  for (const Verdict good : {kIdentical, kEquivalent}) {
    EXPECT_EQ(StandingOf(good), Standing::kGood);
    EXPECT_TRUE(Reproduced(good) && IsConclusive(good));
  }
  for (const Verdict bad : {kDrifted, kFailed}) {
    EXPECT_EQ(StandingOf(bad), Standing::kBad);
    EXPECT_TRUE(!Reproduced(bad) && IsConclusive(bad));
  }
  for (const Verdict open : {kInconclusive, kNotComparable, kInfra}) {
    EXPECT_EQ(StandingOf(open), Standing::kOpen);
    EXPECT_TRUE(!Reproduced(open) && !IsConclusive(open));
  }
}

TEST(VerdictNames, AreReadBack) {
  for (const Verdict verdict : kVerdicts) {
    const auto read = ParseVerdict(VerdictName(verdict));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, verdict);
  }
  const auto unknown = ParseVerdict("passed");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().message,
            "'passed' is no verdict; expected one of identical, equivalent, drifted, inconclusive, "
            "not_comparable, failed, infra");
}

}  // namespace
}  // namespace rharness
