// Random numbers whose bits are part of the recorded run: xoshiro256** (Blackman and Vigna,
// "Scrambled linear pseudorandom number generators", ACM TOMS 47(4), 2021), seeded through
// splitmix64. Integer arithmetic only, so every compiler and CPU draws the same numbers.
#ifndef RHARNESS_SCENARIOS_COMMON_RNG_H_
#define RHARNESS_SCENARIOS_COMMON_RNG_H_

#include <array>
#include <bit>
#include <cstdint>

namespace rharness::scenarios {

// The streams of one run; a seed gives each of them its own sequence.
enum class Stream : std::uint64_t { kInit = 1, kShuffle = 2 };

class Rng {
 public:
  Rng(std::uint64_t seed, Stream stream) {
    // The stream number moves the splitmix64 start by a large odd multiple, so that the streams of
    // neighbouring seeds do not overlap.
    std::uint64_t state = seed ^ (static_cast<std::uint64_t>(stream) * 0xD1B54A32D192ED03ULL);
    for (std::uint64_t& word : state_) word = SplitMix64(&state);
  }

  std::uint64_t Next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform over [0, bound), without modulo bias. bound > 0.
  std::uint64_t Below(std::uint64_t bound) {
    const std::uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    std::uint64_t draw = Next();
    while (draw >= limit) draw = Next();
    return draw % bound;
  }

  // Uniform over the multiples of 2^-23 in [-1, 1); every step is exact in float.
  float Symmetric() {
    return static_cast<float>(static_cast<std::int64_t>(Next() >> 40) - (1 << 23)) * 0x1p-23f;
  }

 private:
  static std::uint64_t SplitMix64(std::uint64_t* state) {
    *state += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

  std::array<std::uint64_t, 4> state_;
};

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_COMMON_RNG_H_
