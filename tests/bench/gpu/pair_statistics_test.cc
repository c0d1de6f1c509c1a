// The arithmetic of one pair, and the grid that adds pairs up, on the host against compare/weights.
#include "tests/bench/gpu/pair_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "compare/weights/tensor_pairs.h"
#include "tests/bench/gpu/comparison_result.h"
#include "tests/bench/gpu/host_grid.h"
#include "tests/bench/gpu/planted_data.h"

namespace rharness::bench {
namespace {

// Patterns of an fp32; of a bf16 the upper halves count.
using Patterns = std::vector<std::uint32_t>;

std::vector<std::byte> Store(DType dtype, const Patterns& patterns) {
  const std::size_t size = dtype == DType::kF32 ? 4 : 2;
  std::vector<std::byte> bytes(patterns.size() * size);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const std::uint32_t element = size == 2 ? patterns[i] >> 16 : patterns[i];
    std::memcpy(bytes.data() + i * size, &element, size);
  }
  return bytes;
}

template <class Elements>
PairResult MeasureInOrder(const Patterns& x, const Patterns& y) {
  PairResult result{};
  for (std::size_t i = 0; i < x.size(); ++i) {
    AddPair<Elements>(x[i], y[i], static_cast<std::uint32_t>(i), {result.histogram, 1},
                      &result.statistics);
  }
  return result;
}

// Empty, or what the two disagree on: every pair of the vectors, added one after the other.
std::string Disagree(DType dtype, const Patterns& x, const Patterns& y) {
  const auto a = Store(dtype, x), b = Store(dtype, y);
  const PairResult result = dtype == DType::kF32 ? MeasureInOrder<Fp32Elements>(x, y)
                                                 : MeasureInOrder<Bf16Elements>(x, y);
  const TensorStats scalar = MeasureBytes(dtype, a, b, Kernel::kScalar).stats;
  EXPECT_EQ(result.statistics.max_rel, scalar.max_rel);
  EXPECT_EQ(result.statistics.max_abs, scalar.max_abs);
  return Disagreement(Describe(result, dtype, x.size()), ExpectedOf(dtype, a, b));
}

// Every sign and exponent, each with the ends of the mantissa and some between: zeros, subnormals,
// infinities and NaNs are among them.
Patterns EveryExponent(DType dtype) {
  Patterns patterns;
  for (std::uint32_t top = 0; top < 512; ++top) {
    for (const std::uint32_t mantissa :
         {0x000000U, 0x010000U, 0x400000U, 0x7f0000U, 0x000001U, 0x2aaaaaU, 0x7fffffU}) {
      const bool fits = dtype == DType::kF32 || (mantissa & 0xffffU) == 0;
      if (fits) patterns.push_back(top << 23 | mantissa);
    }
  }
  return patterns;
}

TEST(PairStatistics, AgreesWithTheHostOnEveryPairOfExponents) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    const Patterns patterns = EveryExponent(dtype);
    ASSERT_GE(patterns.size(), 2048U);
    // All patterns at once, with another partner for each in every round.
    for (std::size_t shift = 0; shift < patterns.size(); ++shift) {
      Patterns partners = patterns;
      std::ranges::rotate(partners, partners.begin() + static_cast<std::ptrdiff_t>(shift));
      ASSERT_EQ(Disagree(dtype, patterns, partners), "") << "shift " << shift;
    }
  }
}

TEST(PairStatistics, AgreesWithTheHostOnEachPairOfSpecialValuesAlone) {
  const Patterns specials = {0x00000000, 0x80000000, 0x00010000, 0x80010000, 0x007f0000, 0x00800000,
                             0x3f800000, 0xbf800000, 0x3f810000, 0x7f7f0000, 0xff7f0000, 0x7f800000,
                             0xff800000, 0x7fc00000, 0xffc00000, 0x7fa00000, 0x7fff0000};
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    for (const std::uint32_t x : specials) {
      for (const std::uint32_t y : specials) {
        ASSERT_EQ(Disagree(dtype, {x}, {y}), "") << std::hex << x << " " << y;
      }
    }
  }
}

TEST(PairStatistics, AgreesWithTheHostOnEveryBf16Pattern) {
  Patterns all;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) all.push_back(bits << 16);
  for (const std::uint32_t change :
       {0x0001U, 0x0003U, 0x0040U, 0x0080U, 0x7fffU, 0x8000U, 0xffffU}) {
    Patterns partners = all;
    for (std::uint32_t& bits : partners) bits ^= change << 16;
    for (std::size_t at = 0; at < all.size(); at += 256) {
      const auto begin = static_cast<std::ptrdiff_t>(at), end = begin + 256;
      ASSERT_EQ(Disagree(DType::kBF16, {all.begin() + begin, all.begin() + end},
                         {partners.begin() + begin, partners.begin() + end}),
                "")
          << std::hex << at << " ^ " << change;
    }
  }
}

// Aligned as device memory is. What follows the elements differs by side, so that reading it shows.
std::vector<Words> Aligned(const std::vector<std::byte>& bytes, int after) {
  std::vector<Words> words(bytes.size() / sizeof(Words) + 1);
  std::memset(words.data(), after, words.size() * sizeof(Words));
  if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

template <class Block, class Elements>
typename Block::Result RunGrid(const PlantedPair& pair, std::uint32_t blocks, ThreadOrder order) {
  const auto a = Aligned(pair.a, 0x35), b = Aligned(pair.b, 0x5a);
  std::vector<typename Block::Result> results(blocks);
  typename Block::Result merged;
  RunCompare<Block, Elements>(a.data(), b.data(), static_cast<std::uint32_t>(pair.elements), blocks,
                              order, results.data());
  RunMerge<Block>(results.data(), blocks, order, &merged);
  return merged;
}

template <class Elements>
void ExpectGridAgrees(DType dtype) {
  for (const PlantedPair& pair : PlantedPairs(dtype)) {
    const TensorDifference expected = ExpectedOf(dtype, pair.a, pair.b);
    // Fewer results than threads merge, and more.
    for (const std::uint32_t blocks : {1U, 3U, 200U}) {
      const auto rising = RunGrid<PairBlock, Elements>(pair, blocks, ThreadOrder::kRising);
      const auto falling = RunGrid<PairBlock, Elements>(pair, blocks, ThreadOrder::kFalling);
      ASSERT_EQ(std::memcmp(&rising, &falling, sizeof(rising)), 0) << pair.name;
      ASSERT_EQ(Disagreement(Describe(rising, dtype, pair.elements), expected), "")
          << pair.name << ", " << blocks << " blocks";
      const auto bits = RunGrid<BitBlock, Elements>(pair, blocks, ThreadOrder::kRising);
      ASSERT_EQ(Disagreement(bits.statistics, expected), "") << pair.name;
    }
  }
}

TEST(BlockFold, GivesTheHostsStatisticsOfPlantedFp32WhateverTheGrid) {
  ExpectGridAgrees<Fp32Elements>(DType::kF32);
}

TEST(BlockFold, GivesTheHostsStatisticsOfPlantedBf16WhateverTheGrid) {
  ExpectGridAgrees<Bf16Elements>(DType::kBF16);
}

TEST(BlockFold, HasOneThreadTakeEachElement) {
  constexpr std::uint32_t kElements = 100'003, kThreads = 3 * kBlockThreads;
  PlantedPair pair{.name = "", .dtype = DType::kBF16, .elements = kElements};
  pair.a = SeededBuffer(DType::kBF16, kElements, 3);
  pair.b = pair.a;
  ChangeEvery(DType::kBF16, 0, 1, &pair.b);
  const auto a = Aligned(pair.a, 0x35), b = Aligned(pair.b, 0x5a);
  std::uint32_t taken = 0;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    BitStatistics own;
    TakeShare<Bf16Elements>(a.data(), b.data(), kElements, thread, kThreads, {}, &own);
    EXPECT_EQ(own.first_index, 8 * thread);  // 16 bytes a thread, from its number on
    taken += own.differing;
  }
  EXPECT_EQ(taken, kElements);
}

TEST(ComparisonResult, DisagreesOnEveryStatisticThatIsWrong) {
  const PlantedPair pair = PlantedPairs(DType::kF32).back();
  TensorDifference right = ExpectedOf(DType::kF32, pair.a, pair.b);
  EXPECT_EQ(Disagreement(right, right), "");
  const auto wrong = [&](auto change) {
    TensorDifference changed = right;
    change(&changed);
    return Disagreement(changed, right);
  };
  using D = TensorDifference;
  for (const auto member : {&D::differing, &D::first_index, &D::max_ulp, &D::non_finite_changes,
                            &D::nan_changes, &D::zero_sign_changes}) {
    EXPECT_NE(wrong([&](D* d) { ++(d->*member); }), "");
  }
  for (const auto member : {&D::max_abs, &D::max_rel}) {
    EXPECT_NE(wrong([&](D* d) { d->*member = std::nextafter(d->*member, 2.0); }), "");
  }
  for (const auto member : {&D::norm_a, &D::norm_b, &D::norm_difference, &D::cosine}) {
    EXPECT_NE(wrong([&](D* d) { d->*member *= 1 + 1e-9; }), "");
  }
  EXPECT_NE(wrong([](D* d) { ++d->ulp_histogram[31]; }), "");
}

}  // namespace
}  // namespace rharness::bench
