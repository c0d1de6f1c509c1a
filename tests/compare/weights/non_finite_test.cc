// Which values are not finite, and of which tensors that is a finding.
#include "compare/weights/non_finite.h"

#include <gtest/gtest.h>

#include <limits>

#include "compare/weights/tensor_diff.h"
#include "compare/weights/tensor_digest.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {
namespace {

constexpr float kFloatNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();

// Every pattern of 8 and 16 bits is looked at by itself; the expected sets are those of the
// formats' definitions.
TEST(NonFinite, OfSmallFormatsAreThePatternsOfTheirDefinition) {
  const auto count8 = [](DType dtype) {
    std::vector<int> found;
    for (int bits = 0; bits < 256; ++bits) {
      const auto byte = static_cast<std::byte>(bits);
      if (CountNonFinite(dtype, {&byte, 1}).Total() > 0) found.push_back(bits);
    }
    return found;
  };
  EXPECT_EQ(count8(DType::kF8E4M3), (std::vector<int>{0x7f, 0xff}));
  EXPECT_EQ(count8(DType::kF8E5M2),
            (std::vector<int>{0x7c, 0x7d, 0x7e, 0x7f, 0xfc, 0xfd, 0xfe, 0xff}));
  EXPECT_EQ(count8(DType::kF8E8M0), std::vector<int>{0xff});
  EXPECT_EQ(count8(DType::kF8E4M3Fnuz), std::vector<int>{0x80});
  EXPECT_EQ(count8(DType::kF8E5M2Fnuz), std::vector<int>{0x80});
  EXPECT_TRUE(count8(DType::kU8).empty());
  NonFiniteCounts half, brain;
  for (int bits = 0; bits < 65536; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    half.Add(CountNonFinite(DType::kF16, std::as_bytes(std::span(&pattern, 1))));
    brain.Add(CountNonFinite(DType::kBF16, std::as_bytes(std::span(&pattern, 1))));
  }
  EXPECT_EQ(half.nan, 2U * 1023U);
  EXPECT_EQ(brain.nan, 2U * 127U);
  for (const NonFiniteCounts& counts : {half, brain}) {
    EXPECT_EQ(counts.positive, 1U);
    EXPECT_EQ(counts.negative, 1U);
  }
}

TEST(NonFinite, AreFoundWhereverTheyStand) {
  std::vector<float> values(1000, 3.0e38f);
  EXPECT_EQ(CountNonFinite(DType::kF32, std::as_bytes(std::span(values))).Total(), 0U);
  for (std::size_t at = 0; at < values.size(); ++at) {
    values[at] = at % 2 == 0 ? kFloatNan : -kFloatInfinity;
    const NonFiniteCounts counts = CountNonFinite(DType::kF32, std::as_bytes(std::span(values)));
    EXPECT_EQ(counts.Total(), 1U) << at;
    EXPECT_EQ(counts.negative, at % 2) << at;
    values[at] = -1.0e-45f;
  }
  const std::vector<double> doubles = {1.0, std::numeric_limits<double>::quiet_NaN(), 1e300};
  EXPECT_EQ(CountNonFinite(DType::kF64, std::as_bytes(std::span(doubles))).nan, 1U);
  // The upper half of an integer looks like a not-a-number of fp32, of fp64 it is half of a value.
  const double odd = std::bit_cast<double>(std::uint64_t{0x3ff00000'7ff00000});
  EXPECT_EQ(CountNonFinite(DType::kF64, std::as_bytes(std::span(&odd, 1))).Total(), 0U);
}

class NonFiniteFiles : public CheckpointFiles {
 protected:
  // "" where there is no finding.
  std::string Finding(const std::string& name, const std::vector<float>& values) {
    const auto file =
        MustOpen(FileOf({{name, "F32", "[" + std::to_string(values.size()) + "]", BytesOf(values)},
                         {"zz", "F32", "[1]", BytesOf<float>({1})}}));
    return DescribeNonFinite(DigestCheckpoint(*file)->non_finite, file->tensors().size());
  }
};

TEST_F(NonFiniteFiles, OfWeightsAreAFinding) {
  EXPECT_EQ(Finding("fc.weight", {1, kFloatNan, 2}),
            "1 of 2 tensors holds values that are not finite, first fc.weight (1 of 3)");
  EXPECT_NE(Finding("fc.weight", {1, kFloatInfinity}), "");
  EXPECT_NE(Finding("fc.weight", {1, -kFloatInfinity}), "");
  EXPECT_NE(Finding("fc.bias", {-kFloatInfinity, -kFloatInfinity}),
            "");  // no zero that makes it a mask
  EXPECT_NE(Finding("state.0.exp_avg", {kFloatNan}), "");
  EXPECT_EQ(Finding("fc.weight", {1, 2}), "");
}

TEST_F(NonFiniteFiles, OfMasksObserversAndCallbacksAreNone) {
  EXPECT_EQ(Finding("attn.bias", {0, -kFloatInfinity, -0.0f, 0}), "");
  EXPECT_EQ(Finding("text.attn_mask", {0.5f, -kFloatInfinity}), "");
  EXPECT_EQ(Finding("h.0.Causal_bias", {-kFloatInfinity, -kFloatInfinity}), "");
  EXPECT_EQ(Finding("alibi", {-0.25f, -kFloatInfinity}), "");
  EXPECT_NE(Finding("text.attn_mask", {0, kFloatNan}), "");
  EXPECT_NE(Finding("text.attn_mask", {0, kFloatInfinity}), "");
  EXPECT_EQ(Finding("fc.activation_post_process.min_val", {kFloatInfinity}), "");
  EXPECT_NE(Finding("fc.activation_post_process.min_val", {kFloatNan}), "");
  EXPECT_EQ(Finding("callbacks.best", {kFloatInfinity}), "");
}

TEST_F(NonFiniteFiles, AreFoundByAComparisonEqualOrNot) {
  const auto file = [&](const char* name, std::vector<float> w) {
    return MustOpen(FileOf({{"w", "F32", "[3]", BytesOf(w)}}), name);
  };
  const auto a = file("a.safetensors", {kFloatNan, kFloatNan, 1}),
             same = file("b.safetensors", {kFloatNan, kFloatNan, 1});
  const auto equal = DiffCheckpoints(*a, *same);
  EXPECT_TRUE(equal->bit_equal);
  ASSERT_EQ(equal->non_finite.size(), 1U);
  EXPECT_EQ(equal->non_finite[0].counts.nan, 2U);
  const auto other = DiffCheckpoints(*file("c.safetensors", {kFloatNan, 2, 2}), *a);
  ASSERT_EQ(other->non_finite.size(), 1U);
  EXPECT_EQ(other->non_finite[0].counts.nan, 2U);
  const auto digests = DiffDigests(DigestCheckpoint(*a)->tensors, DigestCheckpoint(*same)->tensors);
  EXPECT_TRUE(digests.bit_equal);
  EXPECT_EQ(digests.non_finite.size(), 1U);
}

}  // namespace
}  // namespace rharness
