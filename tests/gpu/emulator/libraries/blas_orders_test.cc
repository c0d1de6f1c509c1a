// The probes of cuBLAS and cuBLASLt find the orders that the emulated libraries state.
#include "tests/gpu/emulator/libraries/emulated_probe.h"

namespace rharness {
namespace {

PlantedTree Groups(int k, int slices, int group, bool with_c = false) {
  PlantedTree tree(k + (with_c ? 1 : 0));
  const int sum = tree.Slices(k, slices, group);
  if (with_c) tree.Add({sum, k});
  return tree;
}
PlantedTree Vector(int k) {
  PlantedTree tree(k);
  tree.Lanes(0, k, 32);
  return tree;
}

void ExpectGemmTrees(const std::string& type, int group, const Changes& changes = {},
                     int slices = 4) {
  const ProbeResult result = ExpectOk("gemm_tree_" + type + "_cuda", changes);
  ExpectTree(result, "128x128x256", Groups(256, 1, group));
  ExpectTree(result, "128x128x256 with C", Groups(256, 1, group, true));
  ExpectTree(result, "256x256x1024", Groups(1024, 1, group));
  ExpectTree(result, "16x16x2048", Groups(2048, slices, group));
  if (type != "fp8") ExpectTree(result, "1x64x1024", Vector(1024));
  if (type != "bf16" && type != "fp16") return;
  ExpectTree(result, "128x128x256 to " + type, Groups(256, 1, group));
  ExpectTree(result, "16x16x2048 to " + type, Groups(2048, slices, group));
}

TEST(EmulatedBlas, HasItsStatedTreesOnHopper) {
  ExpectGemmTrees("fp32", 1);
  ExpectGemmTrees("fp64", 1);
  ExpectGemmTrees("tf32", 8);
  ExpectGemmTrees("bf16", 16);
  ExpectGemmTrees("fp16", 16);
  // Masks in both factors: eighteen thousand products.
  if (IsWholeTest()) ExpectGemmTrees("fp8", 32);
}

TEST(EmulatedBlas, HasItsStatedTreesOnAmpere) {
  const Changes ampere = {{"EMULATED_DEVICE", "A100"}};
  ExpectGemmTrees("tf32", 4, ampere);
  if (IsWholeTest()) ExpectGemmTrees("bf16", 8, ampere);
  const ProbeResult none = RunEmulated("gemm_tree_fp8_cuda", ampere);
  EXPECT_EQ(none.status, ProbeStatus::kAbsent) << none.message;
}

TEST(EmulatedBlas, KnowsItsOwnBitsAndChoices) {
  const ProbeResult bits = ExpectOk("gemm_bits_cuda", {}, 2);
  EXPECT_TRUE(bits.unstable.empty());
  EXPECT_TRUE(bits.bits.contains("e4m3 256x256x1024"));
  EXPECT_TRUE(bits.notes.empty()) << bits.notes[0];
  const ProbeResult whole = ExpectOk("gemm_int8_exact_cuda");
  EXPECT_EQ(whole.counts.at("wrong 256x256x512"), 0u);
  // A vector's kernel, and one for all other sizes.
  const ProbeResult rows = ExpectOk("batch_invariance_cuda");
  EXPECT_EQ(rows.counts.at("classes fp32"), 2u);
  EXPECT_EQ(rows.choices.at("bf16").Find("1")->ToInt64(), 0);
  EXPECT_EQ(rows.choices.at("bf16").Find("256")->ToInt64(), 1);
}

TEST(EmulatedBlas, VariesWhereItMayAndNowhereElse) {
  EXPECT_EQ(ExpectOk("symv_atomics", {}, 2).unstable, std::vector<std::string>{"atomics allowed"});
  const ProbeResult streams = ExpectOk("gemm_multistream");
  EXPECT_EQ(streams.unstable, std::vector<std::string>{"no setting, one workspace"});
  EXPECT_EQ(streams.counts.at("distinct results, :16:8, one workspace"), 1u);
}

std::int64_t Chosen(const ProbeResult& result, const std::string& name, const char* what) {
  const auto found = result.choices.find(name);
  if (found == result.choices.end() || found->second.Find(what) == nullptr) return -1;
  return found->second.Find(what)->ToInt64().value_or(-1);
}

TEST(EmulatedBlas, RanksAndRefusesAsItStates) {
  const ProbeResult ranked = ExpectOk("lt_heuristic");
  EXPECT_EQ(Chosen(ranked, "bf16 16x16x2048 to bf16 rank 0", "split_k"), 4);
  EXPECT_EQ(Chosen(ranked, "bf16 16x16x2048 to bf16 rank 0", "id"), 66);
  EXPECT_EQ(Chosen(ranked, "bf16 128x128x256 to bf16 rank 1", "id"), 21);
  EXPECT_EQ(Chosen(ranked, "int8 4096x4096x4096 rank 0", "id"), 70);
  EXPECT_EQ(Chosen(ranked, "fp64 128x128x256 rank 1", "id"), -1);
  const ProbeResult limits = ExpectOk("gemm_workspace");
  EXPECT_EQ(Chosen(limits, "bf16 16x16x4096 to bf16 workspace 0 MiB alignment 16", "split_k"), 1);
  EXPECT_EQ(Chosen(limits, "bf16 16x16x4096 to bf16 workspace 1 MiB alignment 16", "split_k"), 4);
  EXPECT_EQ(Chosen(limits, "bf16 16x16x4096 to bf16 workspace 1 MiB alignment 8", "id"), 10);
  EXPECT_NE(limits.bits.at("bf16 16x16x4096 to bf16 workspace 0 MiB alignment 16"),
            limits.bits.at("bf16 16x16x4096 to bf16 workspace 1 MiB alignment 16"));
  // Ids 10, 21 and 66 of bf16 and tf32, split or not; 10 and, unsplit, 11 of fp32; 12 of all.
  const ProbeResult forced = ExpectOk("lt_forced_algo");
  EXPECT_EQ(forced.counts.at("configurations"), 7u + 7u + 4u);
}

// A library that splits otherwise is one whose order the probe must tell.
TEST(EmulatedBlas, ShowsAnotherPlantedOrder) {
  ExpectGemmTrees("fp32", 1, {{"EMULATED_SPLIT", "2"}}, 2);
}

}  // namespace
}  // namespace rharness
