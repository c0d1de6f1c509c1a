// When the gate opens, and by which rule it closes.
#include "harness/gate/gate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/gate/gate_input.h"

namespace rharness {
namespace {

TEST(Gate, OpensWhenNothingChanged) {
  const GateDecision decision =
      DecideGate(Input(SampleStack(), SampleStack().Stack("driver", "9")));
  EXPECT_TRUE(decision.open);
  EXPECT_EQ(decision.exit_code, 0);
  EXPECT_TRUE(decision.headline.starts_with("The gate is open: nothing changed"));
}

TEST(Gate, ClosesOnEveryKindOfChangeThatNoRuleAllows) {
  const auto gemm = [] { return SampleStack().Probe("gemm_tree_fp16"); };
  ExpectClosed(Input(SampleStack(), Rounded()), {"bits_changed"}, 1);
  ExpectClosed(Input(SampleStack(), gemm().Choice("64x64x32", R"({"algorithm": 1})")),
               {"choice_changed"}, 1);
  ExpectClosed(Input(SampleStack(), gemm().Tree("64x64x32", FusedTree(32, 16))), {"tree_changed"},
               1);
  ExpectClosed(Input(SampleStack(), gemm().Unstable("64x64x32")), {"non_determinism_gained"}, 1);
  ExpectClosed(Input(SampleStack(), SampleStack().Probe("math_bits", "math", "crashed")),
               {"newly_wrong"}, 1);
  ExpectClosed(Input(SampleStack(),
                     SampleStack().Probe("jit_driver_cubin", "compiler").Choice("axpy", "{}")),
               {"choice_changed"}, 1);
}

TEST(Gate, ClosesForWantOfEvidence) {
  ExpectClosed(Input(SampleStack(), SampleStack().Without("math_bits")), {"probe_gone"}, 3);
  ExpectClosed(Input(SampleStack().Probe("math_bits", "math").Bits("tanhf", "t"), SampleStack()),
               {"cases_gone"}, 3);
  ExpectClosed(Input(FingerprintBuilder(), SampleStack()), {"nothing_compared"}, 3);
  ExpectClosed(Input(SampleStack(), FingerprintBuilder()), {"nothing_compared"}, 3);
  ExpectClosed(Input(SampleStack(), SampleStack().Suite("broken")), {"nothing_compared"}, 3);
}

TEST(Gate, ClosesOnAFileThatIsNoFingerprintAndSaysWhoseAndWhatToDo) {
  const Fingerprint unreadable =
      UnreadableFingerprint("c.json", Unsupported("is version 9", "c.json"));
  GateInput input = Input(SampleStack().Stack("driver", "580"), SampleStack());
  input.candidate = unreadable;
  ExpectClosed(input, {"nothing_compared"}, 3);
  const GateDecision decision = DecideGate(input);
  EXPECT_NE(decision.headline.find("the candidate gave no answer"), std::string::npos);
  EXPECT_NE(decision.headline.find("is version 9"), std::string::npos) << decision.headline;
  EXPECT_TRUE(decision.difference.stack.empty()) << "a stack that nobody knows differs in nothing";
  EXPECT_TRUE(NextStep(decision).starts_with("Probe the candidate again")) << NextStep(decision);
  input.candidate = Input(SampleStack(), SampleStack()).candidate;
  input.baseline = unreadable;
  EXPECT_TRUE(NextStep(DecideGate(input)).starts_with("Probe the stack in use again"));
}

TEST(Gate, ChangeAndMissingEvidenceTogetherAreAChange) {
  const GateDecision decision =
      DecideGate(Input(SampleStack(), Rounded().Without("sum_tree_fp32")));
  EXPECT_EQ(decision.exit_code, 1);
  EXPECT_EQ(Closing(decision).size(), 2U);
}

TEST(Gate, MoreToSeeAndMoreRepeatabilityCloseNothing) {
  const auto before = SampleStack().Without("math_bits").Probe("sum_tree_fp32", "reduction");
  EXPECT_TRUE(DecideGate(Input(before, SampleStack())).open);
  EXPECT_TRUE(Notes(DecideGate(Input(before, SampleStack())), "appeared"));
  const auto unstable = SampleStack().Probe("gemm_tree_fp16").Unstable("64x64x32");
  EXPECT_TRUE(DecideGate(Input(unstable, SampleStack())).open);
}

TEST(Gate, TheFirstRuleThatMatchesHolds) {
  const auto decide = [](const std::string& rules) {
    return DecideGate(Input(SampleStack(), Rounded(), "version: 1\nrules:\n" + rules));
  };
  const std::string allow = "  - {probes: 'math_*', allow: [bits]}\n";
  const std::string forbid = "  - {probes: '*', allow: []}\n";
  EXPECT_TRUE(decide(allow + forbid).open);
  EXPECT_TRUE(Notes(decide(allow), "allowed"));
  EXPECT_FALSE(decide(forbid + allow).open);
  EXPECT_FALSE(decide("  - {probes: 'math_*', allow: [choice, tree]}\n").open);
  EXPECT_FALSE(decide("  - {probes: 'math', allow: [bits]}\n").open)
      << "a glob matches whole names";
}

TEST(Gate, ARuleAllowsNoCrashAndNoLossOfRepeatability) {
  const std::string all = "version: 1\nrules: [{probes: '*', allow: [choice, tree, bits]}]";
  EXPECT_FALSE(
      DecideGate(Input(SampleStack(), SampleStack().Probe("math_bits", "math", "failed"), all))
          .open);
  EXPECT_FALSE(DecideGate(Input(SampleStack(),
                                SampleStack().Probe("gemm_tree_fp16").Unstable("64x64x32"), all))
                   .open);
}

TEST(Gate, AWaiverHoldsUntilItsDay) {
  GateInput input = Input(SampleStack(), Rounded(),
                          "version: 1\nwaivers: [{probes: 'math_*', reason: reviewed, signed_by: "
                          "ada, until: 2026-11-20}]");
  FakeClock clock(*ParseTime("2026-11-20T23:59:59Z"));
  input.now = clock.Now();
  const GateDecision waived = DecideGate(input);
  EXPECT_TRUE(waived.open) << waived.headline;
  ASSERT_TRUE(Notes(waived, "waived"));
  EXPECT_NE(waived.reasons[0].rule.find("ada"), std::string::npos) << waived.reasons[0].rule;
  EXPECT_NE(waived.reasons[0].rule.find("reviewed"), std::string::npos);
  clock.Advance(std::chrono::seconds(1));
  input.now = clock.Now();
  ExpectClosed(input, {"bits_changed"}, 1);
  EXPECT_TRUE(Notes(DecideGate(input), "waiver_expired"));
}

TEST(Gate, OfTwoWaiversTheLongerOneHolds) {
  GateInput input = Input(SampleStack(), Rounded(),
                          "version: 1\nwaivers:\n"
                          "  - {probes: '*', reason: r, signed_by: a, until: 2026-01-01}\n"
                          "  - {probes: 'math_*', reason: r, signed_by: b, until: 2027-01-01}\n");
  EXPECT_TRUE(DecideGate(input).open);
}

TEST(Gate, AnExpiredBaselineClosesIt) {
  GateInput input = Input(SampleStack(), SampleStack());
  input.record = BaselineRecord{.accepted_by = "ada", .expires = input.now};
  ExpectClosed(input, {"baseline_expired"}, 3);
  input.record->expires += std::chrono::milliseconds(1);
  EXPECT_TRUE(DecideGate(input).open);
}

TEST(Gate, RequiredProbesMustBeOkOnBothSides) {
  const std::string policy = "version: 1\nrequire: ['math_*']";
  EXPECT_TRUE(DecideGate(Input(SampleStack(), SampleStack(), policy)).open);
  const auto without = SampleStack().Without("math_bits");
  ExpectClosed(Input(without, without, policy), {"probe_missing"}, 3);
  ExpectClosed(Input(without, SampleStack(), policy), {"probe_missing"}, 3);
  ExpectClosed(Input(SampleStack(), SampleStack(), "version: 1\nrequire: ['nccl_*']"),
               {"probe_missing"}, 3);
}

TEST(Gate, ClosesWhenTheCandidateWasTriedLessOften) {
  GateInput input = Input(SampleStack(), SampleStack(), "version: 1");
  input.baseline.repeats = 3, input.baseline.processes = 2;
  input.candidate.repeats = 3, input.candidate.processes = 2;
  EXPECT_TRUE(DecideGate(input).open);
  input.candidate.processes = 1;
  ExpectClosed(input, {"fewer_repeats"}, 3);
}

TEST(Gate, ClosesOnOneMeasurementGivenTwiceUnlessItIsTheAcceptedBaseline) {
  GateInput input = Input(SampleStack(), SampleStack());
  input.baseline.made = input.candidate.made = "2026-11-19T08:00:00.250Z";
  ExpectClosed(input, {"same_measurement"}, 3);
  input.record = BaselineRecord{.accepted_by = "ada", .expires = input.now + std::chrono::hours(1)};
  EXPECT_TRUE(DecideGate(input).open);
  EXPECT_TRUE(Notes(DecideGate(input), "same_measurement"));
  input.record.reset();
  input.candidate.node = "another";
  EXPECT_TRUE(DecideGate(input).open) << "two nodes may be measured in the same millisecond";
}

TEST(Gate, ARequiredProbeMustShowSomethingThatRepeats) {
  const auto required = [](const FingerprintBuilder& build) {
    return Input(build, build, "version: 1\nrequire: [gemm_x]");
  };
  ExpectClosed(required(SampleStack().Probe("gemm_x")), {"probe_missing"}, 3);
  ExpectClosed(required(SampleStack().Probe("gemm_x").Bits("a", "1").Unstable("a")),
               {"probe_missing"}, 3);
  EXPECT_TRUE(DecideGate(required(SampleStack().Probe("gemm_x").Bits("a", "1"))).open);
}

TEST(Gate, RulesAndWaiversNameFamiliesToo) {
  const std::string allowed = "version: 1\nrules: [{probes: 'family:math', allow: [bits]}]";
  EXPECT_TRUE(DecideGate(Input(SampleStack(), Rounded(), allowed)).open);
  ExpectClosed(Input(SampleStack(), Rounded(),
                     "version: 1\nrules: [{probes: 'family:gemm', allow: [bits]}]"),
               {"bits_changed"}, 1);
}

TEST(Gate, ClosesForWantOfEvidenceOnAnswersToAnotherQuestion) {
  const auto asked = [](const char* parameters) {
    return SampleStack().Probe("math_bits", "math").Parameters(parameters);
  };
  ExpectClosed(Input(asked(R"({"seed": 1})"), asked(R"({"seed": 2})"), "version: 1"),
               {"asked_otherwise"}, 3);
}

TEST(Gate, ClosesForWantOfEvidenceOnWhatFailedOnBothSides) {
  const auto failing =
      SampleStack().Probe("math_bits", "math").Choice("expf", R"({"failed": "x"})");
  ExpectClosed(Input(failing, failing, "version: 1"), {"fails_on_both"}, 3);
}

TEST(Gate, APassingDrillAllowsNoChange) {
  GateInput input = Input(SampleStack(), Rounded());
  input.history = {RunOf("b", {})};
  input.drill = DrillOf({{"b", Verdict::kIdentical}});
  ExpectClosed(input, {"bits_changed"}, 1);
}

// Fingerprints of up to six probes with any status, cases and repeatability.
FingerprintBuilder Random(std::mt19937& random) {
  const char* statuses[] = {"ok", "ok", "ok", "ok", "absent", "failed", "crashed", "timed_out"};
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  FingerprintBuilder build;
  if (below(12) == 0) build.Suite("broken");
  for (unsigned i = below(6); i > 0; --i) {
    build.Probe("p" + std::to_string(below(4)), "gemm", statuses[below(8)]);
    for (unsigned k = below(3); k > 0; --k) {
      const std::string name = "c" + std::to_string(below(3));
      if (below(2) == 0) build.Bits(name, std::to_string(below(2)));
      if (below(3) == 0) build.Choice(name, R"({"a": )" + std::to_string(below(2)) + "}");
      if (below(3) == 0) build.Tree(name, below(2) == 0 ? SequentialTree(4) : PairwiseTree(4));
      if (below(4) == 0) build.Unstable(name);
    }
  }
  return build;
}

// The reasons that warn, by code and subject.
std::vector<std::string> Warnings(const GateDecision& decision) {
  std::vector<std::string> warnings;
  for (const GateReason& reason : decision.reasons) {
    if (!reason.warns) continue;
    EXPECT_FALSE(reason.closes || reason.lacks_evidence) << reason.code;
    EXPECT_NE(SentenceOf(reason).find(reason.subject), std::string::npos) << reason.message;
    warnings.push_back(reason.code + " " + reason.subject);
  }
  return warnings;
}

constexpr char kMisspelt[] = R"(version: 1
rules: [{probes: gem_*, allow: [choice, tree, bits]}, {probes: "math_*", allow: [bits]},
        {probes: gem_*, allow: [bits]}]
waivers:
  - {probes: "family:maths", reason: a slip, signed_by: ada, until: 2099-12-31}
  - {probes: nccl_tree, reason: absent on both sides, signed_by: ada, until: 2099-12-31}
)";

TEST(Gate, WarnsByNameOfARuleOrWaiverThatMatchesNoProbeOfEitherSide) {
  const GateDecision open = DecideGate(Input(SampleStack(), Rounded(), kMisspelt));
  EXPECT_TRUE(open.open);
  EXPECT_EQ(Warnings(open),
            (Codes{"rule_matches_nothing gem_*", "waiver_matches_nothing family:maths"}));
  EXPECT_TRUE(open.headline.ends_with("; 2 warnings.")) << open.headline;
  const FingerprintBuilder more = SampleStack().Probe("gem_new", "maths").Bits("1", "x");
  EXPECT_TRUE(Warnings(DecideGate(Input(SampleStack(), more, kMisspelt))).empty())
      << "what only the candidate has is there, too";
}

TEST(Gate, AWaiverOfAFamilyThatRunsDependOnMatches) {
  GateInput input = Input(SampleStack(), SampleStack(), kMisspelt);
  input.history = {RunOf("a", {"maths"})};
  EXPECT_EQ(Warnings(DecideGate(input)), Codes{"rule_matches_nothing gem_*"});
}

TEST(Gate, WhatMatchesNothingOpensNothing) {
  const FingerprintBuilder tree =
      SampleStack().Probe("gemm_tree_fp16").Tree("64x64x32", FusedTree(32, 16));
  const GateDecision decision = DecideGate(Input(SampleStack(), tree, kMisspelt));
  EXPECT_EQ(Closing(decision), Codes{"tree_changed"});
  EXPECT_TRUE(decision.reasons[0].closes && decision.reasons[1].warns) << "and is told next";
  EXPECT_TRUE(
      Warnings(DecideGate(Input(FingerprintBuilder(), FingerprintBuilder(), kMisspelt))).empty())
      << "two empty fingerprints say nothing of a policy";
}

// By the words of the rule alone: an ok probe on both sides that shows the same layer of a case,
// which repeats on both.
template <class T>
bool Share(const FingerprintProbe& a, const FingerprintProbe& b,
           std::map<std::string, T> FingerprintProbe::*layer) {
  return std::ranges::any_of(a.*layer, [&](const auto& entry) {
    return (b.*layer).contains(entry.first) && !a.IsUnstable(entry.first) &&
           !b.IsUnstable(entry.first);
  });
}
bool HaveEvidence(const Fingerprint& a, const Fingerprint& b) {
  if (a.suite != "ok" || b.suite != "ok") return false;
  for (const FingerprintProbe& one : a.probes) {
    for (const FingerprintProbe& two : b.probes) {
      if (one.name != two.name || !one.Ok() || !two.Ok()) continue;
      if (Share(one, two, &FingerprintProbe::bits) || Share(one, two, &FingerprintProbe::trees) ||
          Share(one, two, &FingerprintProbe::choices)) {
        return true;
      }
    }
  }
  return false;
}

TEST(Gate, NeverOpensWithoutAnOkProbeInCommonUnderAnyPolicy) {
  std::mt19937 random(7);
  const std::string policies[] = {
      "version: 1", "version: 1\nrules: [{probes: '*', allow: [choice, tree, bits]}]",
      "version: 1\nwaivers: [{probes: '*', reason: r, signed_by: s, until: 2099-01-01}]"};
  int without = 0, opened = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    const GateInput input =
        Input(Random(random), Random(random), policies[static_cast<std::size_t>(trial) % 3]);
    const GateDecision decision = DecideGate(input);
    EXPECT_EQ(decision.open, decision.exit_code == 0);
    EXPECT_EQ(decision.open, Closing(decision).empty());
    opened += decision.open ? 1 : 0;
    if (HaveEvidence(input.baseline, input.candidate)) continue;
    ++without;
    ASSERT_FALSE(decision.open) << input.baseline.probes.size() << " " << decision.headline;
    EXPECT_EQ(Closing(decision).empty(), false);
  }
  EXPECT_GT(without, 500);
  EXPECT_GT(opened, 30) << "else the property holds of a gate that never opens";
}

}  // namespace
}  // namespace rharness
