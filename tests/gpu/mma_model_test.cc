// The model of fused addition against published results.
#include "probes/gpu/mma_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace rharness {
namespace {

constexpr FusedAddition kV100{4, 23, 23, -132};
constexpr FusedAddition kA100{8, 24, 23, -132};
constexpr FusedAddition kH100{16, 25, 23, -133};
constexpr FusedAddition kH100Fp8{32, 13, 13, -133};

// 1 + the products given by their exponents, by factors that fp16 has.
float OnePlus(const std::vector<int>& exponents, const FusedAddition& addition) {
  std::vector<double> a(32, 0.0), b(32, 0.0);
  for (std::size_t i = 0; i < exponents.size(); ++i) {
    a[i] = std::ldexp(1.0, -12);
    b[i] = std::ldexp(1.0, exponents[i] + 12);
  }
  return FusedDot(NumberType::kFp16, a, b, 1.0F, addition);
}

TEST(FusedDot, GivesThePublishedTable) {
  // Rows of the table of small tests; V100, A100, H100, and native fp8 of H100 (13 bits).
  const float up = 1.0F + std::ldexp(1.0F, -23);
  struct Row {
    std::vector<int> exponents;
    float v100, a100, h100, fp8;
  };
  for (const Row& row : {Row{{-24, -24}, 1, up, up, 1}, Row{{-25, -25, -25, -25}, 1, 1, up, 1},
                         Row{std::vector<int>(8, -26), 1, 1, 1, 1}, Row{{-24, -25}, 1, 1, 1, 1}}) {
    EXPECT_EQ(OnePlus(row.exponents, kV100), row.v100) << row.exponents.size();
    EXPECT_EQ(OnePlus(row.exponents, kA100), row.a100) << row.exponents.size();
    EXPECT_EQ(OnePlus(row.exponents, kH100), row.h100) << row.exponents.size();
    EXPECT_EQ(OnePlus(row.exponents, kH100Fp8), row.fp8) << row.exponents.size();
  }
}

TEST(FusedDot, CutsTowardsZeroOnBothSides) {
  const std::vector<double> a = {-std::ldexp(1.0, -12)}, b = {std::ldexp(1.0, -12)};
  EXPECT_EQ(FusedDot(NumberType::kFp16, a, b, -1.0F, kH100), -1.0F);
  const std::vector<double> c = {std::ldexp(1.0, -12)};
  EXPECT_EQ(FusedDot(NumberType::kFp16, c, b, 1.0F, kH100), 1.0F);
  // Below one the last bit is half as large: 1 - 2^-24 is a number.
  EXPECT_EQ(FusedDot(NumberType::kFp16, a, b, 1.0F, kH100), 1.0F - std::ldexp(1.0F, -24));
}

TEST(FusedDot, AlignsProductsThatAreNotRenormalised) {
  // 1.5 * 1.5 is 2.25 with the exponent 0, so that 2^-25 is kept beside it; 1 * 2.25 has 1.
  const std::vector<double> b = {1.5, 1.5, std::ldexp(1.0, -12)};
  const std::vector<double> a = {1.5, -1.5, std::ldexp(1.0, -13)};
  EXPECT_EQ(FusedDot(NumberType::kFp16, a, b, 0.0F, kH100), std::ldexp(1.0F, -25));
  const std::vector<double> d = {2.25, 2.25, std::ldexp(1.0, -12)};
  const std::vector<double> c = {1.0, -1.0, std::ldexp(1.0, -13)};
  EXPECT_EQ(FusedDot(NumberType::kFp16, c, d, 0.0F, kH100), 0.0F);
}

std::map<std::string, float> Answer(const MmaInstruction& instruction,
                                    const FusedAddition& addition) {
  std::map<std::string, float> answers;
  for (const MmaCase& one : BuildMmaCases(instruction)) {
    if (one.finite) answers[one.name] = FusedDot(instruction.type, one.a, one.b, one.c, addition);
  }
  return answers;
}

constexpr MmaInstruction kInstructions[] = {{"mma_f16_k8", NumberType::kFp16, 8},
                                            {"mma_f16_k16", NumberType::kFp16, 16},
                                            {"mma_bf16_k16", NumberType::kBf16, 16},
                                            {"mma_tf32_k4", NumberType::kTf32, 4},
                                            {"mma_tf32_k8", NumberType::kTf32, 8},
                                            {"mma_e4m3_k32", NumberType::kE4m3, 32},
                                            {"mma_e5m2_k32", NumberType::kE5m2, 32},
                                            {"wgmma_f16_k16", NumberType::kFp16, 16, true},
                                            {"wgmma_bf16_k16", NumberType::kBf16, 16, true},
                                            {"wgmma_tf32_k8", NumberType::kTf32, 8, true},
                                            {"wgmma_e4m3_k32", NumberType::kE4m3, 32, true}};

TEST(MmaFeatures, ReadBackTheWidthAndTheGroupOfAnyAddition) {
  for (const MmaInstruction& instruction : kInstructions) {
    for (const int group : {4, 8, 16, 32}) {
      for (const int bits : {13, 23, 24, 25, 30}) {
        const FusedAddition addition{group, bits, bits == 13 ? 13 : 23, -133};
        const Json features = ReadMmaFeatures(instruction, Answer(instruction, addition));
        EXPECT_EQ(features.Find("fraction_bits")->ToInt64(), bits) << instruction.kernel;
        EXPECT_EQ(features.Find("group")->ToInt64(), std::min(group, instruction.k))
            << instruction.kernel;
        EXPECT_EQ(features.Find("short_accumulator")->AsBool(), bits == 13) << instruction.kernel;
        EXPECT_TRUE(features.Find("subnormals")->AsBool()) << instruction.kernel;
        if (bits >= 24) {
          EXPECT_EQ(features.Find("rounding")->AsString(), "towards zero");
        }
        if (group >= instruction.k) {
          EXPECT_TRUE(features.Find("permutable")->AsBool());
        }
      }
    }
  }
}

TEST(MmaFeatures, CountAGroupWhoseProductsAreNotNeighbours) {
  // As fp8 is emulated on Hopper: two additions of fp16, each of every other pair of products.
  const MmaInstruction instruction{"mma_e4m3_k32", NumberType::kE4m3, 32};
  std::map<std::string, float> answers;
  for (int at = 2; at < 32; ++at) {
    answers["group " + std::to_string(at)] = at % 4 < 2 ? 0.0F : 0x1p-18F;
  }
  EXPECT_EQ(ReadMmaFeatures(instruction, answers).Find("group")->ToInt64(), 16);
}

TEST(MmaFeatures, SeeARoundingToNearest) {
  auto answers = Answer(kInstructions[1], kH100);
  answers["1.5*2^-23"] = std::ldexp(1.0F, 9) + std::ldexp(1.0F, -13);
  EXPECT_EQ(ReadMmaFeatures(kInstructions[1], answers).Find("rounding")->AsString(), "to nearest");
}

TEST(MmaCases, HaveUniqueNamesAndValuesThatTheTypeHas) {
  for (const MmaInstruction& instruction : kInstructions) {
    std::set<std::string> names;
    for (const MmaCase& one : BuildMmaCases(instruction)) {
      EXPECT_TRUE(names.insert(one.name).second) << one.name;
      ASSERT_EQ(one.a.size(), static_cast<std::size_t>(instruction.k));
      ASSERT_EQ(one.b.size(), static_cast<std::size_t>(instruction.k));
      if (!one.finite) continue;
      for (std::size_t i = 0; i < one.a.size(); ++i) {
        EXPECT_EQ(Decode(instruction.type, Encode(instruction.type, one.a[i])), one.a[i])
            << instruction.kernel << " " << one.name;
        EXPECT_EQ(Decode(instruction.type, Encode(instruction.type, one.b[i])), one.b[i])
            << instruction.kernel << " " << one.name;
      }
    }
  }
}

TEST(PublishedAddition, SaysNothingOfWhatIsNotPublished) {
  EXPECT_EQ(PublishedAddition(kInstructions[1], 90), (FusedAddition{16, 25, 23, -133}));
  EXPECT_EQ(PublishedAddition(kInstructions[1], 80), (FusedAddition{8, 24, 23, -132}));
  EXPECT_EQ(PublishedAddition(kInstructions[4], 80), (FusedAddition{4, 24, 23, -132}));
  EXPECT_EQ(PublishedAddition(kInstructions[5], 90), std::nullopt);
  EXPECT_EQ(PublishedAddition(kInstructions[1], 120), std::nullopt);
}

TEST(PublishedAddition, OfAWarpgroupOnHopperKeeps25BitsAnd13OfFp8) {
  EXPECT_EQ(PublishedAddition(kInstructions[7], 90), (FusedAddition{16, 25, 23, -133}));
  EXPECT_EQ(PublishedAddition(kInstructions[8], 90), (FusedAddition{16, 25, 23, -133}));
  EXPECT_EQ(PublishedAddition(kInstructions[9], 90), (FusedAddition{8, 25, 23, -133}));
  EXPECT_EQ(PublishedAddition(kInstructions[10], 90), kH100Fp8);
  EXPECT_EQ(PublishedAddition(kInstructions[10], 100), std::nullopt);
  const Json fp8 = ReadMmaFeatures(kInstructions[10], Answer(kInstructions[10], kH100Fp8));
  EXPECT_EQ(fp8.Find("fraction_bits")->ToInt64(), 13);
  EXPECT_EQ(fp8.Find("group")->ToInt64(), 32);
  EXPECT_TRUE(fp8.Find("short_accumulator")->AsBool());
  EXPECT_TRUE(fp8.Find("permutable")->AsBool());
}

}  // namespace
}  // namespace rharness
