// Which runs a change impacts, and which drill of them the gate takes.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/gate/gate_input.h"

namespace rharness {
namespace {

TEST(Gate, FindsTheRunsThatDependOnAChangedFamily) {
  const FingerprintDifference difference =
      DiffFingerprints(SampleStack().Parse(), Rounded().Parse());
  const std::vector<ImpactedRun> impacted =
      FindImpacted(difference, {"gemm", "math"},
                   {RunOf("a", {"gemm"}), RunOf("b", {"math", "gemm"}), RunOf("c", {})});
  ASSERT_EQ(impacted.size(), 2U);
  EXPECT_EQ(impacted[0].run_id, "b");
  EXPECT_EQ(impacted[0].probes, std::vector<std::string>{"math_bits"});
  EXPECT_EQ(impacted[1].run_id, "c") << "a run that declares nothing depends on everything";
  const FingerprintDifference more =
      DiffFingerprints(SampleStack().Without("math_bits").Parse(), SampleStack().Parse());
  EXPECT_TRUE(FindImpacted(more, {"math"}, {RunOf("c", {})}).empty())
      << "what appeared has changed nothing";
}

TEST(Gate, ARunOfAFamilyThatNothingProbesDependsOnEverything) {
  GateInput input =
      Input(SampleStack(), Rounded(), "version: 1\nrules: [{probes: '*', allow: [bits]}]");
  input.history = {RunOf("typo", {"gem"}), RunOf("known", {"gemm"})};
  const GateDecision decision = DecideGate(input);
  ASSERT_EQ(decision.impacted_runs.size(), 1U);
  EXPECT_EQ(decision.impacted_runs[0].run_id, "typo");
  EXPECT_EQ(std::ranges::count(decision.reasons, "family_not_probed", &GateReason::code), 1);
  EXPECT_FALSE(decision.open) << "that it stays the same is not shown";
  EXPECT_EQ(decision.exit_code, 3);
  input.policy.waivers = {{.probes = "family:gem",
                           .reason = "a typing error, mended in the record",
                           .signed_by = "ada",
                           .until = input.now + std::chrono::days(1)}};
  EXPECT_TRUE(DecideGate(input).open);
  input.policy.waivers.clear();
  // Its own reproduction is evidence, too.
  Report drill;
  drill.runs = {Drilled("typo", Verdict::kIdentical)};
  Tally(&drill);
  input.drill = drill;
  EXPECT_TRUE(DecideGate(input).open);
}

// A drill of one run that reproduced, and the history that has it.
GateInput DrilledAt(const Environment& place) {
  GateInput input = Input(SampleStack(), Rounded().Stack("gpu_driver", "590"),
                          "version: 1\ndrill: required\nrules: [{probes: '*', allow: [bits]}]");
  input.candidate.stack["environment.OPENBLAS_CORETYPE"] = "Nehalem";
  input.history = {RunOf("a", {})};
  Report drill;
  drill.runs = {Drilled("a", Verdict::kIdentical)};
  Tally(&drill);
  input.drill = drill;
  input.drilled_in = {{"a", place}};
  return input;
}

Environment Place(const std::string& kernel, const std::string& driver) {
  Environment place;
  place.variables["OPENBLAS_CORETYPE"] = kernel;
  place.hardware.gpu_driver = driver;
  place.hardware.gpus = {{.model = "NVIDIA H200"}};
  return place;
}

TEST(Gate, TakesADrillOnTheCandidateAlone) {
  EXPECT_TRUE(DecideGate(DrilledAt(Place("Nehalem", "590"))).open);
  ExpectClosed(DrilledAt(Place("Haswell", "590")), {"drill_elsewhere"}, 3);
  ExpectClosed(DrilledAt(Place("Nehalem", "580")), {"drill_elsewhere"}, 3);
  GateInput unknown = DrilledAt(Place("Nehalem", "590"));
  unknown.drilled_in->clear();
  ExpectClosed(unknown, {"drill_elsewhere"}, 3);
}

// What the candidate states and evidence does not is no agreement.
TEST(Gate, TakesNoDrillWhoseEvidenceDoesNotShowTheCandidate) {
  ExpectClosed(DrilledAt(Place("Nehalem", "")), {"drill_elsewhere"}, 3);
  GateInput gpu = DrilledAt(Place("Nehalem", "590"));
  EXPECT_TRUE(DecideGate(gpu).open);
  gpu.drilled_in->find("a")->second.hardware.gpus.clear();
  ExpectClosed(gpu, {"drill_elsewhere"}, 3);
  // Only a library that no run states sets the two stacks apart.
  GateInput library = DrilledAt(Place("", "580"));
  library.baseline.stack["glibc"] = "2.36";
  library.baseline.stack["libraries.libcublas.so.13.sha256"] = "one";
  library.candidate.stack = library.baseline.stack;
  library.candidate.stack["libraries.libcublas.so.13.sha256"] = "another";
  ExpectClosed(library, {"drill_elsewhere"}, 3);
  library.place_proven = true;
  EXPECT_TRUE(DecideGate(library).open) << "probes said so";
  library.place_proven = false;
  library.candidate.stack["glibc"] = "2.41";
  library.drilled_in->find("a")->second.software["glibc"] = "2.41";
  EXPECT_TRUE(DecideGate(library).open) << "one of the changes is seen";
}

TEST(Gate, TakesNoDrillOfBeforeTheCandidateWasMeasured) {
  GateInput input = DrilledAt(Place("Nehalem", "590"));
  input.candidate.made = "2026-11-26T08:00:00.000Z";
  input.drill->started = *ParseTime("2026-11-26T07:00:00Z");
  ExpectClosed(input, {"drill_of_before"}, 3);
  input.drill->started = *ParseTime("2026-11-26T07:55:00Z");
  EXPECT_TRUE(DecideGate(input).open) << "within what two clocks may differ";
  input.candidate.made.clear();
  ExpectClosed(input, {"drill_of_before"}, 3);
}

TEST(Gate, TakesNoCandidateThatDoesNotSayHowOftenItWasRepeated) {
  GateInput input = DrilledAt(Place("Nehalem", "590"));
  input.baseline.repeats = input.candidate.repeats = 3;
  EXPECT_TRUE(DecideGate(input).open);
  input.candidate.repeats = 0;
  ExpectClosed(input, {"fewer_repeats"}, 3);
}

TEST(Gate, TakesADrillOnTheCandidatesVersionsAlone) {
  const auto decide = [](const std::string& name, const std::string& version) {
    Environment place = Place("Nehalem", "590");
    place.software[name] = version;
    GateInput input = DrilledAt(place);
    input.candidate.stack["glibc"] = "2.36";
    input.candidate.stack["libraries.libcudnn.so.9.version"] = "9.19.0";
    input.candidate.stack["libraries.libopenblas.so.0.version"] = "OpenBLAS 0.3.21 DYNAMIC_ARCH";
    input.candidate.stack["libraries.libopenblas.so.0.sha256"] = "0.3.20";
    input.candidate.stack["libraries.libnvrtc.so.13.version"] = "";
    return DecideGate(input);
  };
  for (const auto& [name, version] : std::vector<std::pair<std::string, std::string>>{
           {"glibc", "2.36"},
           {"cudnn", "9.19"},
           {"cudnn", "91900"},  // no dotted number: not understood, so nothing against it
           {"openblas", "OpenBLAS 0.3.21 NO_LAPACKE Cooperlake"},
           {"nvrtc", "12.4"},
           {"torch", "2.1"}}) {
    EXPECT_TRUE(decide(name, version).open) << name << ' ' << version;
  }
  for (const auto& [name, version] : std::vector<std::pair<std::string, std::string>>{
           {"glibc", "2.31"},
           {"cudnn", "9.1"},
           {"cudnn", "9.19.1"},
           {"openblas", "OpenBLAS 0.3.20 NO_LAPACKE Cooperlake"}}) {
    const GateDecision decision = decide(name, version);
    EXPECT_EQ(Closing(decision), Codes{"drill_elsewhere"}) << name << ' ' << version;
    EXPECT_NE(decision.headline.find(name), std::string::npos) << decision.headline;
  }
}

TEST(Gate, ARequiredDrillNeedsAHistoryThatSaysOfWhichRuns) {
  GateInput input = DrilledAt(Place("Nehalem", "590"));
  input.history.clear();
  ExpectClosed(input, {"history_missing"}, 3);
}

TEST(Gate, AppliesOnlyVariablesOfNumericLibrariesToRuns) {
  FingerprintBuilder build;
  Fingerprint before = SampleStack().Parse(), after = SampleStack().Parse();
  before.stack["environment.OMP_NUM_THREADS"] = "1";
  after.stack["environment.OPENBLAS_CORETYPE"] = "Haswell";
  after.stack["environment.LD_PRELOAD"] = "/tmp/evil.so";
  const std::map<std::string, std::optional<std::string>> expected = {
      {"OMP_NUM_THREADS", std::nullopt}, {"OPENBLAS_CORETYPE", "Haswell"}};
  EXPECT_EQ(CandidateVariables(before, after), expected);
}

TEST(Gate, ChanceIsNoContradictionOfTheCandidate) {
  const auto first = [](const FingerprintBuilder& there, const FingerprintBuilder& here) {
    const FingerprintDifference between = DiffFingerprints(there.Parse(), here.Parse());
    const ProbeDifference* found = FindContradiction(between);
    return found == nullptr ? std::string() : found->probe;
  };
  const auto threads = [] {
    return SampleStack().Probe("threads", "gemm").Bits("1", "one").Bits("2", "two");
  };
  EXPECT_EQ(first(threads(), threads().Unstable("2")), "");
  EXPECT_EQ(first(threads().Unstable("2"), threads()), "");
  EXPECT_EQ(first(threads(), threads().Bits("3", "three")), "");
  EXPECT_EQ(first(SampleStack(), threads()), "") << "a probe more";
  EXPECT_EQ(first(threads(), threads().Unstable("2").Bits("1", "other")), "threads")
      << "what repeats on both sides still tells";
  EXPECT_EQ(first(SampleStack(), Rounded()), "math_bits");
  EXPECT_EQ(first(threads(), SampleStack()), "threads") << "gone";
}

TEST(Gate, SaysWhatOfTheStackMakesThisMachineAnother) {
  Fingerprint candidate = SampleStack().Parse(), here = candidate;
  EXPECT_EQ(WhatDiffersHere(candidate, here), "");
  candidate.stack["libraries.libnccl.so.2.version"] = "2.29";
  EXPECT_EQ(WhatDiffersHere(candidate, here), "") << "of a probe that was not taken again";
  here.stack["driver"] = "570";
  EXPECT_EQ(WhatDiffersHere(candidate, here), "driver is 570 here and 580.65 in the candidate");
  candidate.stack["libraries.libscipy_openblas64_-*.so.version"] = "0.3.29";
  here.stack["libraries.libopenblas.so.0.version"] = "0.3.21";
  EXPECT_EQ(WhatDiffersHere(candidate, here),
            "here the probes loaded libopenblas.so.0, and the candidate's did not: where it was "
            "probed with --python or --library-path, name the same here");
}

TEST(Gate, EveryRunDependsOnScalarArithmetic) {
  const auto with = [](const std::string& bits) {
    return SampleStack().Probe("fp_scalar", "scalar").Bits("add", bits).Parse();
  };
  const auto impacted = FindImpacted(DiffFingerprints(with("a"), with("b")),
                                     {"gemm", "math", "scalar"}, {RunOf("a", {"gemm"})});
  ASSERT_EQ(impacted.size(), 1U);
  EXPECT_EQ(impacted[0].probes, std::vector<std::string>{"fp_scalar"});
}

TEST(Gate, ARequiredDrillMustBeThereCoverTheImpactedRunsAndPass) {
  GateInput input = Input(SampleStack(), Rounded(),
                          "version: 1\ndrill: required\nrules: [{probes: '*', allow: [bits]}]");
  ExpectClosed(input, {"drill_missing"}, 3);
  input.history = {RunOf("a", {"gemm"})};
  EXPECT_TRUE(DecideGate(input).open) << "no run depends on what moved";
  input.history = {RunOf("a", {"gemm"}), RunOf("b", {})};
  ExpectClosed(input, {"drill_missing"}, 3);
  EXPECT_EQ(DecideGate(input).unaffected_runs, 1);
  input.drill = DrillOf({{"a", Verdict::kIdentical}});
  ExpectClosed(input, {"run_not_drilled"}, 3);
  input.drill = DrillOf({{"b", Verdict::kEquivalent}});
  EXPECT_TRUE(DecideGate(input).open);
  input.drill = DrillOf({{"b", Verdict::kDrifted}});
  ExpectClosed(input, {"drill_drifted"}, 1);
  for (const Verdict verdict :
       {Verdict::kInconclusive, Verdict::kNotComparable, Verdict::kFailed, Verdict::kInfra}) {
    input.drill = DrillOf({{"b", verdict}});
    ExpectClosed(input, {"drill_undecided"}, 3);
  }
}

TEST(Gate, ADrillThatIsGivenMustPassEvenWhereNoneIsRequired) {
  GateInput input = Input(SampleStack(), SampleStack());
  input.drill = DrillOf({{"a", Verdict::kDrifted}});
  ExpectClosed(input, {"drill_drifted"}, 1);
  input.drill = DrillOf({});
  ExpectClosed(input, {"drill_incomplete"}, 3);
  input.drill = DrillOf({{"a", Verdict::kIdentical}});
  input.drill->interrupted = true;
  ExpectClosed(input, {"drill_incomplete"}, 3);
}

}  // namespace
}  // namespace rharness
