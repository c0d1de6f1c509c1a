// What changed between two stacks, by fingerprints that were written by hand.
#include "compare/fingerprints/fingerprint_diff.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compare/fingerprints/fleet.h"
#include "tests/compare/fingerprints/build_fingerprint.h"

namespace rharness {
namespace {

FingerprintDifference Diff(const FingerprintBuilder& before, const FingerprintBuilder& after) {
  return DiffFingerprints(before.Parse("before.json"), after.Parse("after.json"));
}

// The only change from the sample to `after`, which must have this kind.
ProbeDifference OnlyChange(const FingerprintBuilder& after, BehaviourChange change,
                           const FingerprintBuilder& before = SampleStack()) {
  const FingerprintDifference difference = Diff(before, after);
  EXPECT_TRUE(difference.comparable) << difference.why;
  EXPECT_EQ(difference.probes.size(), 1U) << difference.summary;
  if (difference.probes.empty()) return {};
  const ProbeDifference& probe = difference.probes.front();
  EXPECT_EQ(BehaviourChangeName(probe.change), BehaviourChangeName(change)) << probe.sentence;
  EXPECT_TRUE(probe.sentence.starts_with(probe.probe + ": ")) << probe.sentence;
  return probe;
}

void ExpectSays(const ProbeDifference& probe, const std::string& words) {
  EXPECT_NE(probe.sentence.find(words), std::string::npos) << probe.sentence;
}

TEST(FingerprintDiff, SaysInOneLineThatNothingChanged) {
  const FingerprintDifference difference = Diff(SampleStack(), SampleStack());
  EXPECT_TRUE(difference.comparable);
  EXPECT_EQ(difference.compared, 4);
  EXPECT_EQ(difference.same, 4);
  EXPECT_EQ(difference.summary, "nothing changed in what 4 probes saw");
}

TEST(FingerprintDiff, NamesFactsOfTheStackThatAloneChangedNothing) {
  const FingerprintDifference difference =
      Diff(SampleStack(), SampleStack().Stack("driver", "590.1").Stack("new", "1"));
  ASSERT_EQ(difference.stack.size(), 2U);
  EXPECT_EQ(difference.stack[0].key, "driver");
  EXPECT_EQ(difference.stack[0].recorded, "580.65");
  EXPECT_EQ(difference.stack[0].observed, "590.1");
  EXPECT_EQ(difference.stack[1].recorded, std::nullopt);
  EXPECT_EQ(difference.summary,
            "nothing changed in what 4 probes saw, although 2 facts of the stack did");
}

TEST(FingerprintDiff, ReadsNoDifferenceOffSecretsOfTwoKeys) {
  const auto differ = [](const char* a, const char* b) {
    return !Diff(SampleStack().Stack("environment.JAX_URL", b),
                 SampleStack().Stack("environment.JAX_URL", a))
                .stack.empty();
  };
  EXPECT_TRUE(differ("withheld:hmac-sha256:1:aa", "withheld:hmac-sha256:1:bb"));
  EXPECT_FALSE(differ("withheld:hmac-sha256:1:aa", "withheld:hmac-sha256:2:bb"));
  EXPECT_FALSE(differ("withheld:sha256:aa", "withheld:hmac-sha256:2:bb"));
  EXPECT_TRUE(differ("plain", "withheld:sha256:aa"));
}

TEST(FingerprintDiff, NamesVariablesAndVersionsOfTheStackBeforeDigests) {
  const FingerprintBuilder after = SampleStack()
                                       .Stack("libraries.libcublas.so.13.build_id", "b")
                                       .Stack("libraries.libcublas.so.13.version", "13.2")
                                       .Stack("kernel", "6.2")
                                       .Stack("environment.OMP_NUM_THREADS", "3");
  std::vector<std::string> keys;
  for (const auto& fact : DiffFingerprints(SampleStack().Parse(), after.Parse()).stack) {
    keys.push_back(fact.key);
  }
  EXPECT_EQ(keys, (std::vector<std::string>{"environment.OMP_NUM_THREADS",
                                            "libraries.libcublas.so.13.version", "kernel",
                                            "libraries.libcublas.so.13.build_id"}));
}

TEST(FingerprintDiff, SaysInOneLineThatEverythingChanged) {
  FingerprintBuilder before, after;
  before.Probe("a").Bits("c", "1").Probe("b").Bits("c", "1");
  after.Probe("a").Bits("c", "2").Probe("b").Bits("c", "2");
  EXPECT_EQ(Diff(before, after).summary, "everything changed: 2 rounding");
}

// Four probes of a BLAS as OpenBLAS answers on one processor or another.
FingerprintBuilder BlasOn(const std::string& core, const std::string& threads,
                          const std::string& bits = "same") {
  FingerprintBuilder build;
  for (const char* name : {"blas_bits", "gemm_bits"}) {
    build.Probe(name)
        .Choice("blas", fmt::format(R"({{"core": "{}", "threads": {}}})", core, threads))
        .Bits("256x192x300", bits)
        .Bits("256x192x300 threads 1", "one thread");
  }
  build.Probe("gemm_tree_fp32")
      .Choice("blas", fmt::format(R"({{"core": "{}", "threads": {}}})", core, threads))
      .Tree("64x64x32", FusedTree(32, 8));
  build.Probe("numpy_bits", "math")
      .Choice("fp32 exp", fmt::format(R"({{"target": "{}"}})", core))
      .Choice("dispatch", fmt::format(R"({{"baseline": "SSE3", "enabled": "{}"}})", core))
      .Bits("fp32 exp", "exp");
  return build;
}

TEST(FingerprintDiff, AnotherProcessorsNameWithTheSameOrderAndBitsChangesNothing) {
  const FingerprintDifference difference = Diff(BlasOn("Haswell", "2"), BlasOn("Zen", "2"));
  EXPECT_TRUE(difference.probes.empty()) << difference.probes.front().sentence;
  EXPECT_EQ(difference.same, 4);
  EXPECT_EQ(difference.other_processor, 4);
  EXPECT_EQ(difference.summary,
            "nothing changed in what 4 probes saw; 4 probes ran another processor's kernels (core "
            "Haswell → Zen) with the same order and bits");
}

TEST(FingerprintDiff, AnotherProcessorsKernelsThatComputeOtherwiseAreToldByTheirName) {
  const FingerprintDifference difference =
      Diff(BlasOn("Haswell", "2"), BlasOn("SkylakeX", "2", "other"));
  ASSERT_EQ(difference.probes.size(), 2U);
  EXPECT_EQ(difference.same, 2);
  EXPECT_EQ(difference.probes[0].change, BehaviourChange::kHeuristicDrift);
  ExpectSays(difference.probes[0], "core Haswell → SkylakeX");
}

TEST(FingerprintDiff, OtherBitsWithOtherThreadsSayNothingOfTheStack) {
  const FingerprintDifference difference =
      Diff(BlasOn("Haswell", "1"), BlasOn("Haswell", "4", "other"));
  ASSERT_EQ(difference.probes.size(), 2U);
  for (const ProbeDifference& probe : difference.probes) {
    EXPECT_EQ(probe.change, BehaviourChange::kAskedOtherwise) << probe.sentence;
    ExpectSays(probe, "ran with 4 threads, and with 1 before");
    EXPECT_TRUE(probe.bits_cases.empty());
    EXPECT_EQ(probe.cases, 2) << "the choice, and the case with one thread";
  }
  // Where the bits are the same, the number of threads is no change either.
  const FingerprintDifference equal = Diff(BlasOn("Haswell", "1"), BlasOn("Haswell", "4"));
  EXPECT_TRUE(equal.probes.empty()) << equal.probes.front().sentence;
  // A case that says its threads is the same question everywhere.
  FingerprintBuilder one = BlasOn("Haswell", "4", "other");
  one.Probe("gemm_bits").Bits("256x192x300 threads 1", "rounded otherwise");
  const FingerprintDifference real = Diff(BlasOn("Haswell", "1"), one);
  ASSERT_EQ(real.probes.size(), 2U);
  EXPECT_EQ(real.probes[1].change, BehaviourChange::kRounding) << real.probes[1].sentence;
  EXPECT_EQ(real.probes[1].bits_cases, std::vector<std::string>{"256x192x300 threads 1"});
}

TEST(FingerprintDiff, ThreadsOfOneCaseAreNoExcuseForAnother) {
  const auto numpy = [](const char* threads, const char* exp, const char* dot) {
    FingerprintBuilder build;
    build.Probe("numpy_bits", "math")
        .Choice("fp32 dot", fmt::format(R"({{"threads": {}}})", threads))
        .Bits("fp32 dot", dot)
        .Bits("fp32 exp", exp);
    return build;
  };
  const FingerprintDifference difference = Diff(numpy("1", "a", "a"), numpy("2", "b", "b"));
  ASSERT_EQ(difference.probes.size(), 1U);
  EXPECT_EQ(difference.probes[0].change, BehaviourChange::kRounding);
  EXPECT_EQ(difference.probes[0].bits_cases, std::vector<std::string>{"fp32 exp"});
}

TEST(FingerprintDiff, AnotherChoiceIsHeuristicDriftWhateverMovedBelowIt) {
  const ProbeDifference probe =
      OnlyChange(SampleStack()
                     .Probe("gemm_tree_fp16")
                     .Choice("64x64x32", R"({"algorithm": 67, "split_k": 4})")
                     .Tree("64x64x32", SequentialTree(32))
                     .Bits("64x64x32", "other"),
                 BehaviourChange::kHeuristicDrift);
  EXPECT_EQ(probe.choice_cases, std::vector<std::string>{"64x64x32"});
  EXPECT_EQ(probe.tree_cases, std::vector<std::string>{"64x64x32"});
  EXPECT_EQ(probe.bits_cases, std::vector<std::string>{"64x64x32"});
  EXPECT_EQ(probe.cases, 2);
  ExpectSays(probe, "algorithm 21 → 67, split_k 1 → 4 in 1 of 2 cases");
  ExpectSays(probe, "1 of 2 cases");
  ExpectSays(probe, "adds in another order in 1 (first: 64x64x32: (8+1)-way → sequential)");
  EXPECT_EQ(probe.choice_sentence,
            "gemm_tree_fp16: another algorithm is chosen: algorithm 21 → 67, split_k 1 → 4 in 1 of "
            "2 cases (first: 64x64x32)");
  EXPECT_EQ(probe.bits_sentence, "gemm_tree_fp16: other bits in 1 of 2 cases (first: 64x64x32)");
}

// Two sequential parts of 8 + 4 terms, then of 6 + 6: one name, two orders.
TEST(FingerprintDiff, TellsTwoOrdersOfOneNameApart) {
  const auto split = [](int at) {
    std::vector<std::vector<int>> inner;
    for (const auto& [first, end] : {std::pair(0, at), std::pair(at, 12)}) {
      inner.push_back({first, first + 1});
      for (int leaf = first + 2; leaf < end; ++leaf) {
        inner.push_back({12 + static_cast<int>(inner.size()) - 1, leaf});
      }
    }
    inner.push_back({12 + at - 2, 12 + static_cast<int>(inner.size()) - 1});
    return TreeOf(12, std::move(inner));
  };
  const auto stack = [&split](int at, const char* chosen) {
    return SampleStack()
        .Probe("gemm_tree_fp16")
        .Choice("64x64x32", chosen)
        .Tree("64x64x32", split(at));
  };
  const auto difference = DiffFingerprints(stack(8, R"({"algorithm": 1})").Parse("a"),
                                           stack(6, R"({"algorithm": 2})").Parse("b"));
  ASSERT_EQ(difference.probes.size(), 1U);
  EXPECT_EQ(difference.probes[0].change, BehaviourChange::kHeuristicDrift);
  EXPECT_NE(difference.probes[0].sentence.find("as before, in another arrangement"),
            std::string::npos)
      << difference.probes[0].sentence;
  EXPECT_EQ(difference.probes[0].tree_sentence.find("→"), std::string::npos)
      << difference.probes[0].tree_sentence;
}

TEST(FingerprintDiff, WhatAStackIsIsAFactAndNoBehaviour) {
  const auto with = [](const char* driver) {
    return SampleStack()
        .Probe("env_ident_cuda", "identity")
        .Choice("device", fmt::format(R"({{"driver": "{}", "multiprocessors": 132}})", driver));
  };
  const FingerprintDifference difference = Diff(with("580"), with("590"));
  EXPECT_TRUE(difference.probes.empty());
  ASSERT_EQ(difference.stack.size(), 1U);
  EXPECT_EQ(difference.stack[0].key, "env_ident_cuda.device.driver");
  EXPECT_EQ(difference.stack[0].observed, "590");
  EXPECT_EQ(difference.summary,
            "nothing changed in what 4 probes saw, although 1 fact of the stack did");
  EXPECT_EQ(ArithmeticDigest(with("580").Parse()), ArithmeticDigest(with("590").Parse()));
  FingerprintBuilder alone;
  alone.Probe("env_ident", "identity").Choice("libc", R"({"build_id": "1"})");
  EXPECT_FALSE(Diff(alone, alone).comparable) << "what a stack is says nothing of how it computes";
}

TEST(FingerprintDiff, AnswersToAnotherQuestionDoNotCompare) {
  const auto asked = [](const char* parameters, const char* bits) {
    return SampleStack().Probe("math_bits", "math").Parameters(parameters).Bits("expf", bits);
  };
  const ProbeDifference probe =
      OnlyChange(asked(R"({"inputs": 9, "seed": 2})", "b"), BehaviourChange::kAskedOtherwise,
                 asked(R"({"inputs": 9, "seed": 1})", "a"));
  EXPECT_EQ(probe.cases, 0);
  EXPECT_EQ(probe.sentence, "math_bits: ran with different parameters: seed 1 → 2");
  EXPECT_TRUE(Diff(asked(R"({"a": 1, "seed": 1})", "a"), asked(R"({"seed": 1, "a": 1})", "a"))
                  .probes.empty())
      << "the order of members is no difference";
}

TEST(FingerprintDiff, AnotherOrderUnderTheSameChoiceIsARewrittenKernel) {
  const ProbeDifference probe = OnlyChange(
      SampleStack().Probe("sum_tree_fp32", "reduction").Tree("sum 32", SequentialTree(32)),
      BehaviourChange::kKernelRewritten);
  ExpectSays(probe, "was pairwise, is sequential");
  ExpectSays(probe, "its choice is not known");
}

TEST(FingerprintDiff, AnotherWidthOfFusedAdditionIsAnotherHardwarePath) {
  const ProbeDifference probe =
      OnlyChange(SampleStack().Probe("gemm_tree_fp16").Tree("64x64x32", FusedTree(32, 16)),
                 BehaviourChange::kHardwarePath);
  ExpectSays(probe, "from 9 to 17 terms");
}

TEST(FingerprintDiff, OtherBitsUnderTheSameChoiceAndOrderAreRounding) {
  const ProbeDifference probe =
      OnlyChange(SampleStack().Probe("gemm_tree_fp16").Bits("64x64x16", "epilogue"),
                 BehaviourChange::kRounding);
  ExpectSays(probe, "the same choice and order gives other bits");
  EXPECT_TRUE(probe.tree_cases.empty());
}

TEST(FingerprintDiff, OtherCodeFromTheSameSourceIsTheCompilersOutput) {
  ExpectSays(
      OnlyChange(
          SampleStack().Probe("jit_driver_cubin", "compiler").Choice("axpy", R"({"text": "9999"})"),
          BehaviourChange::kCompilerOutput),
      "9999");
  FingerprintBuilder before = SampleStack(), after = SampleStack();
  before.Probe("nvrtc_ptx", "compiler").Bits("ptx", "old");
  after.Probe("nvrtc_ptx", "compiler").Bits("ptx", "new");
  OnlyChange(after, BehaviourChange::kCompilerOutput, before);
}

TEST(FingerprintDiff, OtherResultsOfTheSameCodeAreNoCompilersOutput) {
  OnlyChange(SampleStack().Probe("jit_driver_cubin", "compiler").Bits("axpy", "other"),
             BehaviourChange::kRounding);
}

TEST(FingerprintDiff, TellsGainedFromLostRepeatability) {
  const auto unstable = SampleStack().Probe("gemm_tree_fp16").Unstable("64x64x32");
  ExpectSays(OnlyChange(unstable, BehaviourChange::kNonDeterminismGained), "in 1 of 2 cases");
  OnlyChange(SampleStack(), BehaviourChange::kNonDeterminismLost, unstable);
}

TEST(FingerprintDiff, WhatNeverRepeatsDiffersInNothingElse) {
  const auto with = [](const std::string& bits) {
    return SampleStack().Probe("atomics", "reduction").Bits("sum", bits).Unstable("sum");
  };
  EXPECT_TRUE(Diff(with("one"), with("two")).probes.empty());
}

constexpr char kFailing[] = R"({"algorithm": 21, "failed": "status 13"})";

TEST(FingerprintDiff, ACaseThatFailsBesideOthersIsNewlyWrong) {
  const auto after = SampleStack().Probe("gemm_tree_fp16").Choice("64x64x16", kFailing);
  const ProbeDifference probe = OnlyChange(after, BehaviourChange::kNewlyWrong);
  EXPECT_EQ(probe.sentence,
            "gemm_tree_fp16: 1 case that worked before failed (first: 64x64x16: status 13)");
  EXPECT_TRUE(probe.gone_cases.empty() && probe.choice_cases.empty());
}

TEST(FingerprintDiff, AFailedCaseIsOneWhateverItsTextAndItsFamily) {
  for (const char* why : {R"({"failed": 3})", R"({"failed": null})"}) {
    const auto failing = SampleStack().Probe("math_bits", "math").Choice("expf", why);
    OnlyChange(failing, BehaviourChange::kFailsOnBoth, failing);
  }
  const auto identity = [](const char* choice) {
    return SampleStack().Probe("env_ident", "identity").Choice("settings", choice);
  };
  OnlyChange(identity(kFailing), BehaviourChange::kNewlyWrong, identity(R"({"mode": 1})"));
  const auto added = SampleStack().Probe("math_bits", "math").Choice("sinf", kFailing);
  ExpectSays(OnlyChange(added, BehaviourChange::kAppeared), "that the baseline does not have");
}

TEST(FingerprintDiff, WhatFailedOnBothSidesIsNotUnchanged) {
  const auto failing = SampleStack().Probe("gemm_tree_fp16").Choice("64x64x16", kFailing);
  const FingerprintDifference difference = Diff(failing, failing);
  ASSERT_EQ(difference.probes.size(), 1U);
  EXPECT_EQ(difference.probes[0].change, BehaviourChange::kFailsOnBoth);
  ExpectSays(difference.probes[0], "1 case failed on both sides and shows nothing");
  EXPECT_EQ(difference.summary.find("nothing changed"), std::string::npos) << difference.summary;
  // What is no fault does not hide it, and beside another change it is said, too.
  auto more = failing, other = failing;
  more.Probe("gemm_tree_fp16").Bits("1x1x1", "new");
  OnlyChange(more, BehaviourChange::kFailsOnBoth, failing);
  other.Probe("gemm_tree_fp16").Bits("64x64x32", "other");
  ExpectSays(OnlyChange(other, BehaviourChange::kRounding, failing), "failed on both sides");
}

TEST(FingerprintDiff, TellsWrongFromGoneFromAppeared) {
  for (const char* status : {"failed", "crashed", "timed_out"}) {
    const auto after = SampleStack().Probe("math_bits", "math", status).Message("bad answer");
    ExpectSays(OnlyChange(after, BehaviourChange::kNewlyWrong), "bad answer");
  }
  OnlyChange(SampleStack().Probe("math_bits", "math", "absent"), BehaviourChange::kGone);
  ExpectSays(OnlyChange(SampleStack().Without("math_bits"), BehaviourChange::kGone), "not probed");
  OnlyChange(SampleStack(), BehaviourChange::kAppeared, SampleStack().Without("math_bits"));
  const auto found = SampleStack().Probe("nccl_tree", "collective").Bits("8 ranks", "x");
  ExpectSays(OnlyChange(found, BehaviourChange::kAppeared), "was absent (no libnccl.so.2), is ok");
}

TEST(FingerprintDiff, NamesCasesThatAreNoLongerShown) {
  const auto before = SampleStack().Probe("math_bits", "math").Bits("tanhf", "tanh");
  const ProbeDifference probe = OnlyChange(SampleStack(), BehaviourChange::kGone, before);
  EXPECT_EQ(probe.gone_cases, std::vector<std::string>{"tanhf"});
  OnlyChange(before, BehaviourChange::kAppeared);
}

TEST(FingerprintDiff, ATreeThatWasNotKeptComparesByItsDigest) {
  FingerprintBuilder before = SampleStack(), after = SampleStack();
  before.Probe("big").Tree("c", SequentialTree(64), false);
  after.Probe("big").Tree("c", PairwiseTree(64), false);
  ExpectSays(OnlyChange(after, BehaviourChange::kKernelRewritten, before),
             "was sequential over 64 terms, is pairwise over 64");
}

void ExpectNotComparable(const FingerprintBuilder& before, const FingerprintBuilder& after,
                         const std::string& words) {
  const FingerprintDifference difference = Diff(before, after);
  EXPECT_FALSE(difference.comparable);
  EXPECT_NE(difference.why.find(words), std::string::npos) << difference.why;
  EXPECT_EQ(difference.summary, "not comparable: " + difference.why);
}

TEST(FingerprintDiff, ComparesNothingWithoutEvidenceOnBothSides) {
  const FingerprintBuilder empty;
  ExpectNotComparable(empty, empty, "the baseline gave no answer, its fingerprint has no probes");
  ExpectNotComparable(SampleStack(), empty,
                      "the candidate gave no answer, its fingerprint has no probes");
  FingerprintBuilder failed;
  failed.Probe("math_bits", "math", "failed").Message("bad answer").Probe("a", "math", "crashed");
  ExpectNotComparable(SampleStack(), failed, "1 crashed, 1 failed; math_bits: bad answer");
  FingerprintBuilder other;
  other.Probe("other", "math").Bits("expf", "exp");
  ExpectNotComparable(SampleStack(), other, "no probe worked on both sides");
  FingerprintBuilder cases;
  cases.Probe("math_bits", "math").Bits("sinf", "sin");
  ExpectNotComparable(SampleStack(), cases, "no probe worked on both sides");
  ExpectNotComparable(SampleStack().Suite("the control repeats"), SampleStack(),
                      "baseline report that their suite is broken: the control repeats");
}

TEST(FingerprintDiff, AControlThatNeverRepeatsIsNoEvidence) {
  FingerprintBuilder control;
  control.Probe("atomics", "reduction").Bits("sum", "x").Unstable("sum");
  ExpectNotComparable(control, control, "no probe worked on both sides");
}

}  // namespace
}  // namespace rharness
