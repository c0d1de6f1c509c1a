// Pairs of buffers whose differences are known to be awkward, and pairs to be timed.
//
// Role: input of rows G3 and G4 and of their tests. What a comparison must say of a pair is what
// compare/weights' DiffTensors says on the host.
#ifndef RHARNESS_TESTS_BENCH_GPU_PLANTED_DATA_H_
#define RHARNESS_TESTS_BENCH_GPU_PLANTED_DATA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compare/weights/tensor_diff.h"

namespace rharness::bench {

struct PlantedPair {
  std::string name;  // "BF16 x 17, last"
  DType dtype = DType::kF32;
  std::uint64_t elements = 0;
  std::vector<std::byte> a, b;  // of the elements' size exactly
};

// F32 and BF16 alone. Finite values of 28 binades and both signs, the same for the same seed.
std::vector<std::byte> SeededBuffer(DType dtype, std::uint64_t elements, std::uint64_t seed);

// Changes the lowest three bits of every `step`-th element, from `from` on, so that each differs.
void ChangeEvery(DType dtype, std::uint64_t from, std::uint64_t step, std::vector<std::byte>* b);

// Puts pairs of zeros of either sign, infinities, NaNs of either payload, subnormals and the
// largest finite values at positions spread over both; the first and the last element differ.
void PlantSpecials(DType dtype, std::vector<std::byte>* a, std::vector<std::byte>* b);

// One difference of every kind alone, none, and all together, at sizes from 0 to 100,003.
std::vector<PlantedPair> PlantedPairs(DType dtype);

// By DiffTensors.
TensorDifference ExpectedOf(DType dtype, const std::vector<std::byte>& a,
                            const std::vector<std::byte>& b);

}  // namespace rharness::bench

#endif  // RHARNESS_TESTS_BENCH_GPU_PLANTED_DATA_H_
