// Verdicts in words, and the exit codes that they come to.
#include "compare/verdict.h"

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

TEST(VerdictNames, AreReadBack) {
  for (const Verdict verdict : kVerdicts) {
    const auto read = ParseVerdict(VerdictName(verdict));
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, verdict);
  }
  EXPECT_FALSE(ParseVerdict("passed").ok());
}

}  // namespace
}  // namespace rharness
