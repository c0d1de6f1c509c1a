// Ordinary inputs, the same on every machine.
#ifndef RHARNESS_PROBES_CPU_RANDOM_NUMBERS_H_
#define RHARNESS_PROBES_CPU_RANDOM_NUMBERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rharness {

// Uniform in [-1, 1), the same everywhere for a seed: multiples of 2^-23.
std::vector<float> RandomFloats(std::uint64_t seed, std::size_t count);
// The same, doubles with 24 more bits below.
template <class T>
std::vector<T> RandomNumbers(std::uint64_t seed, std::size_t count) {
  const std::vector<float> high = RandomFloats(seed, count);
  std::vector<T> values(high.begin(), high.end());
  if constexpr (sizeof(T) == 8) {
    const std::vector<float> low = RandomFloats(~seed, count);
    for (std::size_t i = 0; i < count; ++i) values[i] += static_cast<T>(low[i]) * 0x1p-24;
  }
  return values;
}

}  // namespace rharness

#endif  // RHARNESS_PROBES_CPU_RANDOM_NUMBERS_H_
