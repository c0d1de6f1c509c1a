// The weighted sample of select.h, in integers only, so that every machine draws the same runs.
//
// Efraimidis & Spirakis give each entry the key u^(1/w) and keep the largest keys, which are the
// smallest -log(u)/w. A libm's log may differ in its last bit from another's and swap two close
// keys, so -log2(u) is computed here in fixed point and two quotients are compared by
// cross-multiplication, exactly.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>

#include "harness/drill/select.h"

namespace rharness {
namespace {

__extension__ using Uint128 = unsigned __int128;

constexpr int kFractionBits = 32;

// Source: Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators", SplitMix64.
std::uint64_t SplitMix64(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

// A number in [1, 2^64) that depends on the seed and the run alone, not on the entry's place. The
// run enters through FNV-1a.
std::uint64_t Draw(std::uint64_t seed, const std::string& run_id) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : run_id) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  }
  const std::uint64_t drawn = SplitMix64(SplitMix64(seed) ^ SplitMix64(hash));
  return drawn == 0 ? 1 : drawn;
}

// -log2(drawn / 2^64) in units of 2^-32, between 1 and 64 * 2^32, rounded up. The fraction comes
// bit by bit from squaring the mantissa. Squaring i truncates by less than 2^-62 of the mantissa,
// which is 2^-62 * 2^-i of the logarithm: all 32 together are far below its last bit.
std::uint64_t MinusLog2(std::uint64_t drawn) {
  const int exponent = 63 - std::countl_zero(drawn);
  std::uint64_t mantissa = drawn << (63 - exponent);  // [1, 2) as [2^63, 2^64)
  std::uint64_t log2 = static_cast<std::uint64_t>(exponent);
  for (int i = 0; i < kFractionBits; ++i) {
    const Uint128 square = static_cast<Uint128>(mantissa) * mantissa;  // [2^126, 2^128)
    const bool at_least_two = (square >> 127) != 0;
    mantissa = static_cast<std::uint64_t>(square >> (at_least_two ? 64 : 63));
    log2 = 2 * log2 + (at_least_two ? 1 : 0);
  }
  return (std::uint64_t{64} << kFractionBits) - log2;
}

// Milliseconds since the last conclusive verdict, at least one: an entry verified this very moment
// can still be drawn when all others are.
std::vector<std::uint64_t> Weights(const std::vector<HistoryEntry>& entries, WallTime now) {
  std::int64_t longest = std::chrono::milliseconds(std::chrono::days(30)).count();
  const auto age = [now](WallTime verified) {
    return std::max<std::int64_t>(1, (now - verified).count());
  };
  for (const HistoryEntry& entry : entries) {
    if (entry.verified) longest = std::max(longest, age(*entry.verified));
  }
  std::vector<std::uint64_t> weights;
  weights.reserve(entries.size());
  for (const HistoryEntry& entry : entries) {
    weights.push_back(static_cast<std::uint64_t>(entry.verified ? age(*entry.verified) : longest));
  }
  return weights;
}

}  // namespace

std::vector<HistoryEntry> SampleUnverified(const std::vector<HistoryEntry>& entries,
                                           std::size_t size, std::uint64_t seed, WallTime now) {
  if (size >= entries.size()) return entries;
  const std::vector<std::uint64_t> weights = Weights(entries, now);
  std::vector<std::uint64_t> draws;
  draws.reserve(entries.size());
  for (const HistoryEntry& entry : entries) draws.push_back(MinusLog2(Draw(seed, entry.run_id)));

  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto sooner = [&](std::size_t a, std::size_t b) {
    const Uint128 left = static_cast<Uint128>(draws[a]) * weights[b];
    const Uint128 right = static_cast<Uint128>(draws[b]) * weights[a];
    return left != right ? left < right : entries[a].run_id < entries[b].run_id;
  };
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(size);
  std::nth_element(order.begin(), middle, order.end(), sooner);
  std::sort(order.begin(), middle);

  std::vector<HistoryEntry> sample;
  sample.reserve(size);
  for (auto it = order.begin(); it != middle; ++it) sample.push_back(entries[*it]);
  return sample;
}

}  // namespace rharness
