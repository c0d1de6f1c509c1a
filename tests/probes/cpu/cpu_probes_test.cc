// Probes that need nothing but the compiler's libraries: orders known from their source text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "probes/cpu/own_sums.h"
#include "probes/cpu/reveal_case.h"
#include "tests/probes/cpu/probe_cases.h"
#include "tests/probes/order/routines.h"

namespace rharness {
namespace {

TEST(CpuProbes, AreRegisteredUnderTheirNames) {
  std::set<std::string> names;
  for (const Probe& probe : Probes()) names.insert(std::string(probe.name));
  for (const char* name :
       {"own_reduce_tree", "omp_reduce_tree", "std_reduce_tree", "atomic_spread", "scan_bits",
        "blas_dot_tree", "blas_gemv_tree", "gemm_tree_fp32", "gemm_tree_fp64", "gemm_bits",
        "gemm_int8_exact", "batch_invariance", "symv_bits", "gemm_threads", "conv_bits",
        "conv_tree", "softmax_norm_tree", "ring_tree"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(CpuProbes, FindTheControlsOrders) {
  const ProbeResult result = RunProbe("own_reduce_tree");
  ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
  EXPECT_EQ(result.trees.size(), 8U);
  EXPECT_TRUE(result.unstable.empty());
  // Lane i takes i, i + 32, i + 64, ...; lanes fold with those 16, 8, 4, 2, 1 above.
  EXPECT_EQ(TreeName(result, "fp32 warp 1024"), "32-way strided + interleaved pairwise");
  const SumTree& blocks = result.trees.at("fp64 blocks 1024");
  EXPECT_EQ(blocks.LeavesUnderCommonAncestor(0, 255), 256);
  EXPECT_EQ(blocks.LeavesUnderCommonAncestor(0, 32), 2);
  EXPECT_EQ(blocks.LeavesUnderCommonAncestor(0, 16), 16);
  EXPECT_EQ(blocks.LeavesUnderCommonAncestor(0, 512), 512);
  EXPECT_EQ(blocks.LeavesUnderCommonAncestor(0, 256), 1024);
}

TEST(CpuProbes, FindSequentialAccumulate) {
  const ProbeResult result = RunProbe("std_reduce_tree");
  ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
  EXPECT_EQ(TreeName(result, "fp32 std::accumulate 1000"), "sequential");
  EXPECT_EQ(TreeName(result, "fp64 std::accumulate 100"), "sequential");
  for (const char* one : {"fp32 std::reduce 1000", "fp64 Eigen sum 1000"}) {
    EXPECT_NE(TreeName(result, one), "none") << one;
    EXPECT_FALSE(TreeName(result, one).starts_with("irregular")) << TreeName(result, one);
  }
}

TEST(CpuProbes, FindOneSequenceAThreadInOpenMp) {
  const ProbeResult result = RunProbe("omp_reduce_tree");
  ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
  EXPECT_EQ(TreeName(result, "fp32 256 threads 1"), "sequential");
  EXPECT_EQ(TreeName(result, "fp32 256 threads 2"), "split-K 2 of sequential");
}

TEST(CpuProbes, HaveANegativeControlThatIsUnstable) {
  const ProbeResult result = RunProbe("atomic_spread");
  EXPECT_THAT(result.unstable, testing::ElementsAre("fp32 atomic sum"));
}

TEST(CpuProbes, ScanToTheSameBitsAgain) {
  const ProbeResult result = RunProbe("scan_bits");
  EXPECT_EQ(result.bits.size(), 2U);
  EXPECT_TRUE(result.unstable.empty());
  EXPECT_EQ(result.bits, RunProbe("scan_bits").bits);
}

TEST(CpuProbes, FindTheNormalizationsOrders) {
  const ProbeResult result = RunProbe("softmax_norm_tree");
  EXPECT_EQ(TreeName(result, "softmax 1000"), "8-way strided + pairwise");
  EXPECT_EQ(result.trees.size(), 4U);
}

TEST(CpuProbes, FindARingsRotationByOffset) {
  const ProbeResult result = RunProbe("ring_tree");
  ASSERT_EQ(result.status, ProbeStatus::kOk) << result.message;
  // Chunk c starts at rank c and goes round: ((c + c+1) + c+2) + c+3.
  EXPECT_EQ(result.trees.at("ring offset 0").Canonical(), "(((0 1) 2) 3)");
  EXPECT_EQ(result.trees.at("ring offset 2").Canonical(), "(0 ((1 2) 3))");
  EXPECT_EQ(result.trees.at("ring offset 4").Canonical(), "((0 (2 3)) 1)");
  EXPECT_EQ(result.trees.at("ring offset 6").Canonical(), "(((0 3) 1) 2)");
  EXPECT_EQ(result.trees.at("tree offset 0").Canonical(), "((0 1) (2 3))");
  EXPECT_EQ(result.trees.size(), 5U);
  EXPECT_EQ(result.choices.at("ring").Find("case_by_offset")->AsArray()[7].AsString(),
            "ring offset 6");
}

TEST(RevealCase, ListsAnUnstableCaseAndSaysWhyItHasNoTree) {
  ProbeResult result;
  unsigned calls = 0;
  AddTree<float>(
      {}, "shuffled", 32, [&](std::span<const float> x) { return routines::Random(x, ++calls); },
      &result);
  EXPECT_THAT(result.unstable, testing::ElementsAre("shuffled"));
  EXPECT_TRUE(result.trees.empty());
  ASSERT_EQ(result.notes.size(), 1U);
  EXPECT_THAT(result.notes[0], testing::StartsWith("shuffled: tree not revealed: "));
}

TEST(RevealCase, ListsBitsThatARepeatChanges) {
  ProbeResult result;
  float value = 0.0F;
  AddBits(
      {.repeats = 2}, "counter", [&] { return std::vector<float>{value += 1.0F}; }, &result);
  AddBits(
      {.repeats = 1}, "once", [&] { return std::vector<float>{value += 1.0F}; }, &result);
  EXPECT_THAT(result.unstable, testing::ElementsAre("counter"));
  EXPECT_EQ(result.bits.size(), 2U);
}

TEST(RevealCase, MakesTheSameRandomFloatsEverywhere) {
  // SplitMix64 from seed 0: 0xE220A8397B1DCDAF is its first output.
  const std::vector<float> values = RandomFloats(0, 1000);
  EXPECT_EQ(values[0], (0xE220A8p0F - 0x800000p0F) * 0x1p-23F);
  for (const float value : values) {
    EXPECT_GE(value, -1.0F);
    EXPECT_LT(value, 1.0F);
  }
}

}  // namespace
}  // namespace rharness
