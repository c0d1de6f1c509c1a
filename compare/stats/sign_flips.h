// The sign-flip test: are paired differences as often above zero as below, and by as much?
//
// Role: the test of a paired difference that assumes no distribution: if the two sides of each pair
// could change places, every assignment of signs is as probable as the observed one.
// Source: Fisher 1935, section 21; p of random assignments: Phipson & Smyth 2010
// (doi:10.2202/1544-6115.1585).
#ifndef RHARNESS_COMPARE_STATS_SIGN_FLIPS_H_
#define RHARNESS_COMPARE_STATS_SIGN_FLIPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rharness::stats {

inline constexpr std::size_t kMostEnumerated = 20;      // differences; 2^20 assignments
inline constexpr std::uint64_t kRandomFlips = 99'999;   // random assignments of more differences
inline constexpr std::size_t kMostFlipped = 20'000;     // differences, in about half a second
inline constexpr std::uint64_t kFlipSeed = 0x5eed0f17;  // the same data give the same p

struct SignFlips {
  // Two-sided: the share of assignments whose sum is at least as far from zero as the observed one.
  // Of all 2^n, or (b + 1) / (m + 1) of m random ones.
  double p = 1.0;
  bool exact = true;
  std::size_t differences = 0;  // that are not zero
};

// Differences of zero count for nothing. Sums that differ by rounding alone are ties. Without a
// difference p = 1, which is no evidence of anything; NaN if one is not finite, or if more than
// kMostFlipped are not zero.
SignFlips TestSignFlips(const std::vector<double>& differences);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_SIGN_FLIPS_H_
