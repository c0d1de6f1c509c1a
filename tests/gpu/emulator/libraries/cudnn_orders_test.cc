// The probes of cuDNN find the orders that the emulated library states.
#include "tests/gpu/emulator/libraries/emulated_probe.h"

namespace rharness {
namespace {

PlantedTree Grouped(int terms, int slices, int group) {
  PlantedTree tree(terms);
  tree.Slices(terms, slices, group);
  return tree;
}

TEST(EmulatedCudnn, HasItsStatedTreesOfConvolutions) {
  const ProbeResult result = ExpectOk("cudnn_conv_tree");
  for (const auto& [type, group] : {std::pair{"fp16", 16}, {"bf16", 16}}) {
    for (const int channels : {32, 128}) {
      const std::string name = std::string("fprop ") + type + " nhwc 64x" +
                               std::to_string(channels) + "x3x3 by 64x3x3 pad 0 choice ";
      ExpectTree(result, name + "0", Grouped(9 * channels, 1, group));
      ExpectTree(result, name + "1", Grouped(9 * channels, 1, 1));
      ExpectTree(result, name + "2", Grouped(9 * channels, 4, 1));
    }
    const std::string gradient =
        std::string("wgrad ") + type + " nhwc 16x64x8x8 by 64x1x1 pad 0 choice ";
    ExpectTree(result, gradient + "0", Grouped(1024, 1, group));
    ExpectTree(result, gradient + "2", Grouped(1024, 4, 1));
  }
  ExpectTree(result, "fprop fp32 nhwc 64x32x3x3 by 64x3x3 pad 0 choice 0", Grouped(288, 1, 1));
  ExpectTree(result, "fprop tf32 nhwc 64x32x3x3 by 64x3x3 pad 0 choice 0", Grouped(288, 1, 8));
}

TEST(EmulatedCudnn, HasItsStatedTreesOfRowsInALayerNorm) {
  const ProbeResult result = ExpectOk("softmax_norm_tree_cuda");
  for (const int columns : {256, 1024}) {
    const std::string name = "cudnn layer norm fp32 64x" + std::to_string(columns) + " engine ";
    PlantedTree lanes(columns);
    lanes.Lanes(0, columns, 8);
    ExpectTree(result, name + "0", lanes);
    ExpectTree(result, name + "1", Grouped(columns, 1, 1));
  }
  EXPECT_TRUE(result.bits.contains("cudnn softmax log"));
}

TEST(EmulatedCudnn, VariesWhereItSaysSoAndNowhereElse) {
  const ProbeResult bits = ExpectOk("cudnn_conv_bits");
  EXPECT_EQ(bits.unstable.size(), 8u);  // engine 3, of two passes and four tensors
  for (const std::string& name : bits.unstable) EXPECT_TRUE(name.ends_with(" engine 3")) << name;
  EXPECT_TRUE(bits.notes.empty()) << bits.notes[0];
  const ProbeResult older = ExpectOk("cudnn_legacy_algo");
  EXPECT_EQ(older.unstable.size(), 9u);
  for (const std::string& name : older.unstable) {
    EXPECT_TRUE(name.ends_with("algorithm 0") || name.ends_with("algorithm 3")) << name;
  }
  const ProbeResult losses = ExpectOk("pool_ctc_nd");
  EXPECT_EQ(losses.unstable, (std::vector<std::string>{"max pooling gradient", "CTC loss"}));
}

TEST(EmulatedCudnn, RanksItsEnginesForThisDeviceAndDescribedOnes) {
  const ProbeResult here = ExpectOk("cudnn_engine_list");
  const auto engine = [&](const ProbeResult& result, const std::string& name) {
    const auto found = result.choices.find(name);
    return found == result.choices.end() ? -1 : *found->second.Find("engine")->ToInt64();
  };
  const std::string operation = "wgrad bf16 nhwc 32x64x56x56 by 64x3x3 pad 1 mode ";
  EXPECT_EQ(engine(here, operation + "A rank 0"), 1);
  EXPECT_EQ(engine(here, operation + "B rank 0"), 3);
  EXPECT_EQ(engine(here, operation + "FALLBACK rank 0"), 0);
  EXPECT_EQ(engine(here, operation + "FALLBACK rank 1"), -1);
  EXPECT_EQ(engine(here, "attention bf16 2x16x1024x64 mode A rank 0"), 0);
  const ProbeResult named = ExpectOk("cudnn_engine_list_named");
  EXPECT_EQ(engine(named, "B200 " + operation + "A rank 0"), 1);
  EXPECT_EQ(engine(named, "A10G attention bf16 2x16x1024x64 mode A rank 0"), 0);
}

}  // namespace
}  // namespace rharness
