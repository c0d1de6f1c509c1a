// What names of operators say.
#include "compare/traces/operator_names.h"

#include <gtest/gtest.h>

namespace rharness {
namespace {

TEST(OperatorNames, SayWhatDrawsArrangesOrLeavesMemoryUnwritten) {
  for (const char* draws : {"aten.bernoulli_.float", "aten::bernoulli_.float", "aten.rand.default",
                            "aten.native_dropout.default", "aten.normal_.default", "uniform_"}) {
    EXPECT_TRUE(DrawsByName(draws)) << draws;
  }
  for (const char* other :
       {"aten.native_layer_norm.default", "aten.native_dropout_backward.default", "aten.mul.Tensor",
        "aten._softmax.default", "normalize"}) {
    EXPECT_FALSE(DrawsByName(other)) << other;
  }
  for (const char* arranges :
       {"aten.t.default", "aten::view", "aten.empty_like.default", "clone"}) {
    EXPECT_TRUE(ArrangesOnly(arranges)) << arranges;
  }
  for (const char* other : {"aten._to_copy.default", "aten.tril.default", "aten.mm.default",
                            "compiled.graph", "aten.copy_.default", "view.planted"}) {
    EXPECT_EQ(ArrangesOnly(other), std::string_view(other) == "view.planted") << other;
  }
  EXPECT_TRUE(LeavesUnwritten("aten.new_empty_strided.default"));
  EXPECT_TRUE(LeavesUnwritten("aten::resize_"));
  EXPECT_FALSE(LeavesUnwritten("aten.zeros.default"));
}

}  // namespace
}  // namespace rharness
