// Groups by name, their order, and what they add up to.
#include "compare/weights/layer_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace rharness {
namespace {

TEST(LayerGroups, EndWithTheLastNumberBetweenDots) {
  EXPECT_EQ(GroupOf("model.layers.17.mlp.up.weight"), "model.layers.17");
  EXPECT_EQ(GroupOf("layers.3.experts.12.w1.weight"), "layers.3.experts.12");
  EXPECT_EQ(GroupOf("layer1.0.conv2.weight"), "layer1.0");
  EXPECT_EQ(GroupOf("h.11"), "h.11");
  EXPECT_EQ(GroupOf("0.weight"), "0");
  EXPECT_EQ(GroupOf("7"), "7");
}

TEST(LayerGroups, EndAtTheLastDotWithoutANumber) {
  EXPECT_EQ(GroupOf("conv1.weight"), "conv1");
  EXPECT_EQ(GroupOf("model.embed_tokens.weight"), "model.embed_tokens");
  EXPECT_EQ(GroupOf("alpha"), "alpha");
  EXPECT_EQ(GroupOf(""), "");
  EXPECT_EQ(GroupOf(".weight"), "");
  EXPECT_EQ(GroupOf("a..b"), "a.");
}

TEST(LayerGroups, OrderNumbersByValue) {
  const std::vector<std::string> sorted = {"",
                                           "a",
                                           "b.2.x",
                                           "b.10",
                                           "layers",
                                           "layers.2",
                                           "layers.02",
                                           "layers.10",
                                           "layers.10.mlp",
                                           "layers.99999999999999999999999",
                                           "layers.100000000000000000000000",
                                           "layers.x"};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = 0; j < sorted.size(); ++j) {
      EXPECT_EQ(NaturalLess(sorted[i], sorted[j]), i < j) << sorted[i] << " and " << sorted[j];
    }
  }
}

TensorDifference Differing(std::uint64_t differing, double max_abs, double max_rel,
                           double norm_difference, double norm_a) {
  TensorDifference difference;
  difference.differing = differing;
  difference.max_abs = max_abs;
  difference.max_rel = max_rel;
  difference.max_ulp = differing;
  difference.norm_difference = norm_difference;
  difference.norm_a = norm_a;
  return difference;
}

TEST(LayerGroups, AddUpTheirTensors) {
  const TensorDifference up = Differing(2, 0.5, 0.125, 3.0, 12.0);
  const TensorDifference down = Differing(7, 0.25, 1.0, 4.0, 5.0);
  LayerGroups groups;
  groups.Add("layers.10.up", 100, &up);
  groups.Add("layers.2.up", 100, nullptr);
  groups.Add("layers.10.down", 50, &down);
  groups.Add("layers.10.norm", 1, nullptr);
  const std::vector<GroupDifference> built = groups.Build();
  ASSERT_EQ(built.size(), 2u);
  EXPECT_EQ(built[0].group, "layers.2");
  EXPECT_EQ(built[0].tensors, 1u);
  EXPECT_EQ(built[0].differing_tensors, 0u);
  EXPECT_EQ(built[0].max_abs, 0.0);
  EXPECT_EQ(built[0].relative_norm, 0.0);
  EXPECT_EQ(built[1].group, "layers.10");
  EXPECT_EQ(built[1].tensors, 3u);
  EXPECT_EQ(built[1].differing_tensors, 2u);
  EXPECT_EQ(built[1].elements, 151u);
  EXPECT_EQ(built[1].differing, 9u);
  EXPECT_EQ(built[1].max_abs, 0.5);
  EXPECT_EQ(built[1].max_rel, 1.0);
  EXPECT_EQ(built[1].max_ulp, 7u);
  EXPECT_DOUBLE_EQ(built[1].relative_norm, 5.0 / 13.0);  // 3, 4, 5 over 5, 12, 13
}

TEST(LayerGroups, LeaveOutWhatHasNoDistances) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const TensorDifference packed = Differing(3, nan, nan, nan, nan);
  const TensorDifference measured = Differing(1, 0.5, 0.25, 1.0, 2.0);
  LayerGroups groups;
  groups.Add("a.0.packed", 8, &packed);
  groups.Add("b.0.packed", 8, &packed);
  groups.Add("b.0.w", 8, &measured);
  const std::vector<GroupDifference> built = groups.Build();
  ASSERT_EQ(built.size(), 2u);
  EXPECT_TRUE(std::isnan(built[0].max_abs));
  EXPECT_TRUE(std::isnan(built[0].max_rel));
  EXPECT_TRUE(std::isnan(built[0].relative_norm));
  EXPECT_EQ(built[1].max_abs, 0.5);
  EXPECT_EQ(built[1].relative_norm, 0.5);
  EXPECT_EQ(built[1].differing, 4u);
}

TEST(LayerGroups, HoldAHundredThousandTensors) {
  LayerGroups groups;
  for (int layer = 0; layer < 10000; ++layer) {
    for (int tensor = 0; tensor < 10; ++tensor) {
      groups.Add("layers." + std::to_string(layer) + ".t" + std::to_string(tensor), 2, nullptr);
    }
  }
  const std::vector<GroupDifference> built = groups.Build();
  ASSERT_EQ(built.size(), 10000u);
  for (std::size_t layer = 0; layer < built.size(); ++layer) {
    EXPECT_EQ(built[layer].group, "layers." + std::to_string(layer));
    EXPECT_EQ(built[layer].elements, 20u);
  }
}

}  // namespace
}  // namespace rharness
