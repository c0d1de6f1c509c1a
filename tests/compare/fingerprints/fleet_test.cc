// Which nodes compute alike, which are odd, and whether it is the node or its stack.
#include "compare/fingerprints/fleet.h"

#include <gtest/gtest.h>

#include "tests/compare/fingerprints/build_fingerprint.h"

namespace rharness {
namespace {

FleetMember Member(const std::string& node, const FingerprintBuilder& build) {
  return {node, build.Parse(node + ".json")};
}
FingerprintBuilder Odd() {
  return SampleStack().Probe("math_bits", "math").Bits("expf", "another exp");
}
FingerprintBuilder OnDriver(FingerprintBuilder build, const std::string& driver) {
  return build.Stack("driver", driver);
}

TEST(Fleet, OneClassWhenAllComputeAlike) {
  const Fleet fleet = CompareFleet({Member("n1", SampleStack().Stack("hostname", "n1")),
                                    Member("n2", SampleStack().Stack("hostname", "n2"))});
  EXPECT_EQ(fleet.exit_code, 0);
  ASSERT_EQ(fleet.classes.size(), 1U);
  EXPECT_EQ(fleet.classes[0].nodes, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_TRUE(fleet.odd.empty());
}

TEST(Fleet, NamesTheOddNodeAndWhatSetsItApart) {
  const Fleet fleet =
      CompareFleet({Member("n1", SampleStack()), Member("n2", Odd()), Member("n3", SampleStack())});
  EXPECT_EQ(fleet.exit_code, 1);
  ASSERT_EQ(fleet.classes.size(), 2U);
  EXPECT_TRUE(fleet.classes[0].majority);
  ASSERT_EQ(fleet.odd.size(), 1U);
  EXPECT_EQ(fleet.odd[0].node, "n2");
  ASSERT_EQ(fleet.odd[0].difference.probes.size(), 1U);
  EXPECT_EQ(fleet.odd[0].difference.probes[0].probe, "math_bits");
  EXPECT_EQ(fleet.odd[0].suspect, Suspect::kNode) << "same stack, others differ from it";
  EXPECT_NE(fleet.summary.find("n2"), std::string::npos) << fleet.summary;
}

TEST(Fleet, ATieNamesNoMajority) {
  const Fleet fleet = CompareFleet({Member("n1", SampleStack()), Member("n2", Odd())});
  EXPECT_EQ(fleet.exit_code, 1);
  EXPECT_TRUE(fleet.odd.empty());
  for (const FleetClass& one : fleet.classes) EXPECT_FALSE(one.majority);
  ASSERT_EQ(fleet.notes.size(), 1U);
  EXPECT_NE(fleet.notes[0].find("no majority"), std::string::npos);
}

TEST(Fleet, ComparesWithinAHardwareClassOnly) {
  FingerprintBuilder other = Odd();
  Json json = other.ToJson();
  json.Set("stack", *ParseJson(R"({"gpus": [{"model": "NVIDIA A100"}]})", "stack"));
  const Fleet fleet = CompareFleet({Member("n1", SampleStack()),
                                    Member("n2", SampleStack()),
                                    {"n3", *ParseFingerprint(json, "n3.json")}});
  EXPECT_EQ(fleet.exit_code, 0);
  EXPECT_EQ(fleet.classes.size(), 2U);
}

TEST(Fleet, RepeatsThatDifferOnOneStackSuspectTheNode) {
  const Fleet fleet = CompareFleet({Member("n1", SampleStack()), Member("n2", SampleStack()),
                                    Member("n3", SampleStack()), Member("n3", Odd())});
  ASSERT_EQ(fleet.odd.size(), 1U);
  EXPECT_EQ(fleet.odd[0].node, "n3");
  EXPECT_EQ(fleet.odd[0].suspect, Suspect::kNode);
  EXPECT_NE(fleet.odd[0].sentence.find("repeats of this node"), std::string::npos);
}

TEST(Fleet, OtherNodesOfTheSameOddStackSuspectTheStack) {
  const Fleet fleet = CompareFleet(
      {Member("n1", SampleStack()), Member("n2", SampleStack()), Member("n3", SampleStack()),
       Member("n4", OnDriver(Odd(), "590")), Member("n5", OnDriver(Odd(), "590"))});
  ASSERT_EQ(fleet.odd.size(), 2U);
  for (const OddNode& odd : fleet.odd) EXPECT_EQ(odd.suspect, Suspect::kStack) << odd.sentence;
}

TEST(Fleet, ANodeThatWasLikeTheOthersBeforeItsStackChangedSuspectsTheStack) {
  const Fleet fleet =
      CompareFleet({Member("n1", SampleStack()), Member("n2", SampleStack()),
                    Member("n3", SampleStack()), Member("n3", OnDriver(Odd(), "590"))});
  ASSERT_EQ(fleet.odd.size(), 1U);
  EXPECT_EQ(fleet.odd[0].suspect, Suspect::kStack) << fleet.odd[0].sentence;
}

TEST(Fleet, ANodeThatIsOddOnTheOthersStackTooIsSuspectItself) {
  const Fleet fleet = CompareFleet({Member("n1", SampleStack()), Member("n2", SampleStack()),
                                    Member("n3", Odd()), Member("n3", OnDriver(Odd(), "590"))});
  ASSERT_EQ(fleet.odd.size(), 2U) << "one row a stack";
  for (const OddNode& odd : fleet.odd) EXPECT_EQ(odd.suspect, Suspect::kNode) << odd.sentence;
}

TEST(Fleet, ALoneStackLeavesItOpen) {
  const Fleet fleet = CompareFleet({Member("n1", SampleStack()), Member("n2", SampleStack()),
                                    Member("n3", OnDriver(Odd(), "590"))});
  ASSERT_EQ(fleet.odd.size(), 1U);
  EXPECT_EQ(fleet.odd[0].suspect, Suspect::kUnknown);
}

TEST(Fleet, ShowsNothingWithoutTwoNodesThatDo) {
  EXPECT_EQ(CompareFleet({}).exit_code, 3);
  EXPECT_EQ(CompareFleet({Member("n1", SampleStack())}).exit_code, 3);
  EXPECT_EQ(CompareFleet({Member("n1", SampleStack()), Member("n1", SampleStack())}).exit_code, 3);
  const Fleet fleet = CompareFleet({Member("n1", SampleStack()), Member("n2", SampleStack()),
                                    Member("n3", SampleStack().Suite("broken"))});
  EXPECT_EQ(fleet.exit_code, 3) << "a node that shows nothing is not known to be alike";
  ASSERT_EQ(fleet.unusable.size(), 1U);
  EXPECT_NE(fleet.unusable[0].find("n3"), std::string::npos);
}

TEST(Fleet, WhatNeverRepeatsIsNoClassOfItsOwn) {
  const auto with = [](const std::string& bits) {
    return SampleStack().Probe("atomics", "reduction").Bits("sum", bits).Unstable("sum");
  };
  EXPECT_EQ(CompareFleet({Member("n1", with("a")), Member("n2", with("b"))}).exit_code, 0);
}

}  // namespace
}  // namespace rharness
