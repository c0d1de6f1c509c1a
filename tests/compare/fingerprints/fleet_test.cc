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

TEST(Fleet, NodesOfOtherProcessorsWithTheSameBitsComputeAlike) {
  const auto on = [](const char* core, const char* bits) {
    return SampleStack()
        .Probe("blas_bits")
        .Choice("blas", std::string(R"({"core": ")") + core + R"("})")
        .Bits("dot", bits);
  };
  EXPECT_EQ(
      CompareFleet({Member("n1", on("Haswell", "a")), Member("n2", on("Zen", "a"))}).classes.size(),
      1U);
  EXPECT_EQ(
      CompareFleet({Member("n1", on("Haswell", "a")), Member("n2", on("Zen", "b"))}).classes.size(),
      2U);
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
  for (const OddNode& odd : fleet.odd) {
    EXPECT_EQ(odd.suspect, Suspect::kStack) << odd.sentence;
    EXPECT_EQ(odd.sentence,
              "stack: 1 other node with the same stack computes like it; driver is 590 here and "
              "580.65 in the majority");
  }
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

// The one odd node of three, whose stack no other has.
OddNode Alone(const FingerprintBuilder& odd) {
  const Fleet fleet =
      CompareFleet({Member("n1", SampleStack().Stack("hostname", "n1")),
                    Member("n2", SampleStack().Stack("hostname", "n2")), Member("n3", odd)});
  EXPECT_EQ(fleet.odd.size(), 1U);
  return fleet.odd.empty() ? OddNode() : fleet.odd.front();
}
std::vector<std::string> KeysOf(const OddNode& odd) {
  std::vector<std::string> keys;
  for (const FleetFact& fact : odd.facts) keys.push_back(fact.key);
  return keys;
}
using Keys = std::vector<std::string>;

TEST(Fleet, NamesTheFactThatSetsALoneStackApart) {
  const OddNode odd = Alone(OnDriver(Odd(), "590").Stack("hostname", "n3"));
  ASSERT_EQ(KeysOf(odd), Keys{"driver"}) << "a host's name sets nobody apart";
  EXPECT_EQ(odd.facts[0].here, "590");
  ASSERT_EQ(odd.facts[0].majority.size(), 1U);
  EXPECT_EQ(odd.facts[0].majority[0], "580.65");
  EXPECT_EQ(odd.suspect, Suspect::kStack);
  EXPECT_TRUE(odd.sentence.starts_with("stack: driver is 590 here and 580.65 in the majority; "))
      << odd.sentence;
  EXPECT_NE(odd.sentence.find("to be sure"), std::string::npos) << odd.sentence;
}

TEST(Fleet, SuspectsTheNodeWhereItsHardwareAloneIsAnother) {
  const OddNode odd = Alone(Odd().Stack("cpu.microcode", "0x2b"));
  ASSERT_EQ(KeysOf(odd), Keys{"cpu.microcode"});
  EXPECT_TRUE(odd.facts[0].of_machine);
  EXPECT_EQ(odd.suspect, Suspect::kNode);
  EXPECT_NE(odd.sentence.find("cpu.microcode is 0x2b here and absent in the majority"),
            std::string::npos)
      << odd.sentence;
}

TEST(Fleet, LeavesItOpenWhereHardwareAndSoftwareBothDiffer) {
  const OddNode odd = Alone(OnDriver(Odd(), "590").Stack("cpu.microcode", "0x2b"));
  EXPECT_EQ(KeysOf(odd), (Keys{"driver", "cpu.microcode"}));
  EXPECT_EQ(odd.suspect, Suspect::kUnknown);
}

TEST(Fleet, NamesWhatPeopleChangeBeforeVersionsAndDigestsLast) {
  const OddNode odd = Alone(Odd()
                                .Stack("libraries.libcublas.so.13.build_id", "b")
                                .Stack("libraries.libcublas.so.13.version", "13.2")
                                .Stack("kernel", "6.2")
                                .Stack("libraries.libgomp.so.1.sha256", "c")
                                .Stack("environment.OMP_NUM_THREADS", "3"));
  EXPECT_EQ(KeysOf(odd), (Keys{"environment.OMP_NUM_THREADS", "libraries.libcublas.so.13.version",
                               "kernel", "libraries.libgomp.so.1.sha256"}))
      << "a digest beside its version tells nothing more";
}

TEST(Fleet, AFactThatSomeOfTheMajorityShareSetsNobodyApart) {
  const Fleet fleet =
      CompareFleet({Member("n1", SampleStack()), Member("n2", OnDriver(SampleStack(), "590")),
                    Member("n3", OnDriver(Odd(), "590").Stack("cublas", "12"))});
  ASSERT_EQ(fleet.odd.size(), 1U);
  EXPECT_EQ(KeysOf(fleet.odd[0]), Keys{"cublas"});
}

TEST(Fleet, SecretsNotedWithTheKeysOfTwoMachinesSetNobodyApart) {
  const OddNode odd = Alone(Odd().Stack("environment.NCCL_TOKEN", "withheld:hmac-sha256:3:cc"));
  EXPECT_EQ(KeysOf(odd), Keys{"environment.NCCL_TOKEN"}) << "absent is not withheld";
  EXPECT_EQ(odd.suspect, Suspect::kNode) << "others with the same stack differ from it";
  const auto with = [](FingerprintBuilder build, const std::string& note) {
    return build.Stack("environment.NCCL_TOKEN", note);
  };
  const Fleet fleet = CompareFleet({Member("n1", with(SampleStack(), "withheld:hmac-sha256:1:aa")),
                                    Member("n2", with(SampleStack(), "withheld:hmac-sha256:2:bb")),
                                    Member("n3", with(Odd(), "withheld:hmac-sha256:3:cc"))});
  ASSERT_EQ(fleet.odd.size(), 1U);
  EXPECT_TRUE(fleet.odd[0].facts.empty());
  EXPECT_EQ(fleet.odd[0].suspect, Suspect::kNode);
}

TEST(Fleet, ATieNamesTheFactBetweenItsStacks) {
  const Fleet fleet =
      CompareFleet({Member("n1", SampleStack()), Member("n2", OnDriver(Odd(), "590"))});
  ASSERT_EQ(fleet.notes.size(), 1U);
  const auto either = [&](const char* words) {
    return fleet.notes[0].find(words) != std::string::npos;
  };
  EXPECT_TRUE(either("; driver: 580.65 on n1, 590 on n2") ||
              either("; driver: 590 on n2, 580.65 on n1"))
      << fleet.notes[0];
}

TEST(Fleet, SaysHowManyHardwareClassesThereAre) {
  Json json = SampleStack().ToJson();
  json.Set("stack", *ParseJson(R"({"gpus": [{"model": "NVIDIA A100"}]})", "stack"));
  const Fleet fleet = CompareFleet({Member("n1", SampleStack()),
                                    Member("n2", SampleStack()),
                                    {"n3", *ParseFingerprint(json, "n3.json")}});
  EXPECT_EQ(fleet.summary, "3 nodes on 2 hardware classes compute alike within each");
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
