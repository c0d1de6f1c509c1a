// All assignments of signs in the order of a Gray code, or random ones by blocks of eight.
#include "compare/stats/sign_flips.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace rharness::stats {
namespace {

constexpr std::size_t kBlock = 8;
constexpr std::size_t kBlockSigns = std::size_t{1} << kBlock;
// Sums of the same numbers in another order differ by less, in units of the sum of their sizes.
constexpr double kRounding = 1e-12;

// Flipping all signs changes no distance from zero: the last sign stays.
double ShareOfAll(const std::vector<double>& values, double sum, double limit) {
  const std::uint64_t half = std::uint64_t{1} << (values.size() - 1);
  std::uint64_t as_far = 0;
  std::vector<bool> flipped(values.size(), false);
  for (std::uint64_t step = 1; step <= half; ++step) {
    as_far += std::fabs(sum) >= limit ? 1 : 0;
    if (step == half) break;
    const auto at = static_cast<std::size_t>(std::countr_zero(step));
    sum += flipped[at] ? 2.0 * values[at] : -2.0 * values[at];
    flipped[at] = !flipped[at];
  }
  return static_cast<double>(as_far) / static_cast<double>(half);
}

// The signed sums of eight differences, by their signs as bits.
std::vector<std::array<double, kBlockSigns>> SumsByBlock(const std::vector<double>& values) {
  std::vector<std::array<double, kBlockSigns>> blocks((values.size() + kBlock - 1) / kBlock);
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    for (std::size_t signs = 0; signs < kBlockSigns; ++signs) {
      double sum = 0.0;
      for (std::size_t i = 0; i < kBlock && block * kBlock + i < values.size(); ++i) {
        const double value = values[block * kBlock + i];
        sum += (signs >> i & 1U) != 0 ? value : -value;
      }
      blocks[block][signs] = sum;
    }
  }
  return blocks;
}

double ShareOfRandom(const std::vector<double>& values, double limit) {
  const auto blocks = SumsByBlock(values);
  std::mt19937_64 random(kFlipSeed);  // the standard fixes its numbers
  std::uint64_t as_far = 0;
  for (std::uint64_t draw = 0; draw < kRandomFlips; ++draw) {
    double sum = 0.0;
    std::uint64_t bits = 0;
    for (std::size_t block = 0; block < blocks.size(); ++block) {
      if (block % kBlock == 0) bits = random();
      sum += blocks[block][bits % kBlockSigns];
      bits /= kBlockSigns;
    }
    as_far += std::fabs(sum) >= limit ? 1 : 0;
  }
  return (static_cast<double>(as_far) + 1.0) / (static_cast<double>(kRandomFlips) + 1.0);
}

}  // namespace

SignFlips TestSignFlips(const std::vector<double>& differences) {
  SignFlips test;
  std::vector<double> values;
  double sum = 0.0;
  double size = 0.0;
  for (const double difference : differences) {
    if (difference == 0.0) continue;
    values.push_back(difference);
    sum += difference;
    size += std::fabs(difference);
  }
  test.differences = values.size();
  test.exact = values.size() <= kMostEnumerated;
  if (values.empty()) return test;
  if (!std::isfinite(size) || values.size() > kMostFlipped) {
    test.p = std::numeric_limits<double>::quiet_NaN();
    return test;
  }
  const double limit = std::fabs(sum) - kRounding * size;
  test.p = test.exact ? ShareOfAll(values, sum, limit) : ShareOfRandom(values, limit);
  return test;
}

}  // namespace rharness::stats
