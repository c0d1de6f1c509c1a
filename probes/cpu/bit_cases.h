// Shared by the scalar probes: seeded inputs, canonical NaNs, and bits with their repeats.
#ifndef RHARNESS_PROBES_CPU_BIT_CASES_H_
#define RHARNESS_PROBES_CPU_BIT_CASES_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/base/digest.h"
#include "probes/probe.h"

namespace rharness {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

// Inputs spread over all bit patterns, one out of each of `count` (a power of two) equal ranges:
// every exponent, both signs, NaNs and infinities.
template <class T>
std::vector<T> StridedInputs(std::uint32_t count) {
  const BitsOf<T> stride = std::numeric_limits<BitsOf<T>>::max() / count + 1;
  std::vector<T> inputs(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    // An odd step inside the range, so that low bits vary.
    const BitsOf<T> inside = i * BitsOf<T>{0x9e3779b1} % stride;
    inputs[i] = std::bit_cast<T>(static_cast<BitsOf<T>>(i * stride + inside));
  }
  return inputs;
}

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014, figure 15).
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

// All NaNs alike: fp_scalar tests which NaN an operation makes.
template <class T>
T OneNan(T value) {
  return std::isnan(value) ? std::numeric_limits<T>::quiet_NaN() : value;
}

template <class T>
std::string HashOfValues(const std::vector<T>& values) {
  Sha256 hash;
  hash.Update(std::as_bytes(std::span(values)));
  return ToHex(hash.Finish());
}

// bits[name] of the result of `make`, made `repeats` times; unstable when they differ. Returns the
// first values.
template <class Make>
auto AddBits(const std::string& name, int repeats, ProbeResult* result, Make make) {
  const auto first = make();
  const std::string bits = HashOfValues(first);
  bool stable = true;
  for (int i = 1; i < repeats; ++i) stable = HashOfValues(make()) == bits && stable;
  if (!stable) result->unstable.push_back(name);
  result->bits[name] = bits;
  return first;
}

}  // namespace rharness

#endif  // RHARNESS_PROBES_CPU_BIT_CASES_H_
