// Masked matrices, asked of a product computed here: the order that goes in comes out.
#include <gtest/gtest.h>

#include <functional>

#include "probes/gpu/gemm.h"
#include "probes/gpu/mma_model.h"
#include "probes/order/reveal.h"

namespace rharness {
namespace {

// GemmSum's questions, answered by a function of one row of A, one column of B and C.
class ModelSum : public MaskedSum {
 public:
  using Dot = std::function<double(std::span<const double>, std::span<const double>, double)>;
  ModelSum(DeviceGemmShape shape, bool with_c, Dot dot)
      : shape_(std::move(shape)),
        with_c_(with_c),
        scheme_(SchemeOf(shape_.input, shape_.output)),
        dot_(std::move(dot)) {}

  int size() const override { return shape_.k + (with_c_ ? 1 : 0); }
  int max_batch() const override { return MostQuestions(shape_, scheme_); }
  std::int64_t exact_count() const override { return scheme_.exact_count; }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    const MaskedMatrices all = BuildMasked(shape_, scheme_, with_c_, pairs, units);
    const auto k = static_cast<std::size_t>(shape_.k);
    for (std::size_t q = 0; q < pairs.size(); ++q) {
      const std::size_t at = ElementOf(shape_, scheme_, q);
      const std::size_t row = at % static_cast<std::size_t>(shape_.m);
      const std::size_t column = at / static_cast<std::size_t>(shape_.m);
      std::vector<double> a, b;
      for (std::size_t i = 0; i < k; ++i) {
        a.push_back(ElementAt(shape_.input, all.a, row * k + i));
        b.push_back(ElementAt(shape_.input, all.b, column * k + i));
      }
      const double c = with_c_ ? ElementAt(shape_.output, all.c, at) : 0.0;
      counts[q] = dot_(a, b, c) / scheme_.unit();
    }
    return {};
  }

 private:
  DeviceGemmShape shape_;
  bool with_c_;
  MaskScheme scheme_;
  Dot dot_;
};

// Children of every inner node of a chain, from the root downwards.
std::vector<int> FanIns(const SumTree& tree) {
  std::vector<int> fan_ins;
  for (int node = tree.root(); node >= tree.leaves(); --node) {
    fan_ins.push_back(static_cast<int>(tree.children(node).size()));
  }
  return fan_ins;
}

std::vector<int> RevealFused(NumberType type, const FusedAddition& addition, bool with_c) {
  ModelSum sum({32, 32, 32, type, NumberType::kFp32}, with_c, [&](auto a, auto b, double c) {
    return static_cast<double>(FusedDot(type, a, b, static_cast<float>(c), addition));
  });
  const auto revealed = RevealTree(sum);
  EXPECT_TRUE(revealed.ok());
  EXPECT_TRUE(revealed->tree.has_value()) << revealed->why;
  return revealed->tree ? FanIns(*revealed->tree) : std::vector<int>();
}

TEST(MaskedGemm, RevealsThePublishedNodesOfTensorCores) {
  // A half-precision product of 32: 5-way on V100, 9-way on A100, 17-way on H100; the first group
  // has no running sum to take, unless C is one.
  for (const NumberType type : {NumberType::kFp16, NumberType::kBf16}) {
    EXPECT_EQ(RevealFused(type, {16, 25, 23, -133}, false), (std::vector<int>{17, 16}));
    EXPECT_EQ(RevealFused(type, {8, 24, 23, -132}, false), (std::vector<int>{9, 9, 9, 8}));
    EXPECT_EQ(RevealFused(type, {4, 23, 23, -132}, false),
              (std::vector<int>{5, 5, 5, 5, 5, 5, 5, 4}));
    EXPECT_EQ(RevealFused(type, {16, 25, 23, -133}, true), (std::vector<int>{17, 17}));
  }
}

TEST(MaskedGemm, RevealsFp8WithShortAndWithLongAccumulators) {
  for (const NumberType type : {NumberType::kE4m3, NumberType::kE5m2}) {
    EXPECT_EQ(RevealFused(type, {32, 13, 13, -133}, false), (std::vector<int>{32}));
    EXPECT_EQ(RevealFused(type, {16, 13, 13, -132}, false), (std::vector<int>{17, 16}));
    EXPECT_EQ(RevealFused(type, {16, 25, 23, -133}, true), (std::vector<int>{17, 17}));
  }
}

TEST(MaskedGemm, CountsInBlocksWhenTheOutputIsShort) {
  // A bf16 running sum loses units above 2^8; a sum of 600 is put together from blocks.
  ModelSum sum(
      {8, 8, 600, NumberType::kBf16, NumberType::kBf16}, false, [](auto a, auto b, double) {
        double total = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
          total = Decode(NumberType::kBf16, Encode(NumberType::kBf16, total + a[i] * b[i]));
        }
        return total;
      });
  const auto revealed = RevealTree(sum);
  ASSERT_TRUE(revealed.ok());
  ASSERT_TRUE(revealed->tree.has_value()) << revealed->why;
  EXPECT_EQ(revealed->tree->height(revealed->tree->root()), 599);
}

TEST(MaskedGemm, RevealsDoublesBackwards) {
  ModelSum sum({4, 4, 65, NumberType::kFp64, NumberType::kFp64}, true,
               [](auto a, auto b, double c) {
                 double total = c;
                 for (std::size_t i = a.size(); i-- > 0;) total += a[i] * b[i];
                 return total;
               });
  const auto revealed = RevealTree(sum);
  ASSERT_TRUE(revealed.ok());
  ASSERT_TRUE(revealed->tree.has_value()) << revealed->why;
  // C, the last summand, meets the last product first.
  EXPECT_EQ(revealed->tree->LeavesUnderCommonAncestor(65, 64), 2);
  EXPECT_EQ(revealed->tree->LeavesUnderCommonAncestor(65, 0), 66);
}

TEST(MaskedGemm, AsksAVectorProductInAllItsColumnsAtOnce) {
  for (const NumberType type : {NumberType::kFp32, NumberType::kFp16, NumberType::kBf16}) {
    const DeviceGemmShape shape{1, 16, 48, type, NumberType::kFp32};
    const MaskScheme scheme = SchemeOf(type, NumberType::kFp32);
    EXPECT_EQ(MostQuestions(shape, scheme), 16);
    for (const bool with_c : {false, true}) {
      ModelSum sum(shape, with_c, [](auto a, auto b, double c) {
        auto total = static_cast<float>(c);
        for (std::size_t i = 0; i < a.size(); ++i) total += static_cast<float>(a[i] * b[i]);
        return static_cast<double>(total);
      });
      const auto revealed = RevealTree(sum);
      ASSERT_TRUE(revealed.ok());
      ASSERT_TRUE(revealed->tree.has_value()) << revealed->why;
      const SumTree& tree = *revealed->tree;
      // From the first product to the last, after C where there is one.
      EXPECT_EQ(tree.LeavesUnderCommonAncestor(0, 1), with_c ? 3 : 2);
      EXPECT_EQ(tree.LeavesUnderCommonAncestor(0, 47), with_c ? 49 : 48);
      EXPECT_EQ(tree.height(tree.root()), with_c ? 48 : 47);
      EXPECT_LT(revealed->launches, 48U);
    }
  }
}

}  // namespace
}  // namespace rharness
