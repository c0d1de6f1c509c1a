// The inner loops of the tensor difference, one set per instruction set, chosen at run time.
//
// Role: between tensor_stats, which knows blocks and ranges, and the loops. Every kernel gives the
// same result bit for bit: counts and maxima do not depend on the order, and sums have one shape.
#ifndef RHARNESS_COMPARE_WEIGHTS_BLOCK_KERNELS_H_
#define RHARNESS_COMPARE_WEIGHTS_BLOCK_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "compare/weights/checkpoint.h"

namespace rharness {

enum class Kernel { kScalar, kAvx2, kAvx512 };
bool MachineHas(Kernel kernel);
Kernel BestKernel();  // the last of the enum that this machine has

// The contribution of one block. Sums are fp64 in eight lanes: element i of the block adds to lane
// i % 8, each product rounded before it is added (no fused operation). Pairs that are not finite on
// both sides add nothing to sums, maxima and the histogram.
struct BlockDifference {
  static constexpr std::size_t kLanes = 8;

  double a_squared[kLanes] = {};
  double b_squared[kLanes] = {};
  double difference_squared[kLanes] = {};
  double product[kLanes] = {};
  double max_abs = 0.0;
  double max_rel = 0.0;
  std::uint64_t max_ulp = 0;
  std::uint64_t ulp_histogram[64] = {};  // as UlpHistogram
  std::uint64_t differing = 0;
  std::uint64_t non_finite_changes = 0;
  std::uint64_t nan_changes = 0;
  std::uint64_t zero_sign_changes = 0;
};

// Adds the pairs [begin, end) of a block, counted in elements.
using AddPairsFunction = void (*)(const std::byte* a, const std::byte* b, std::size_t begin,
                                  std::size_t end, BlockDifference* block);
// Adds whole vectors from the block's start on; returns how many elements it did, a multiple of 8.
using AddVectorsFunction = std::size_t (*)(const std::byte* a, const std::byte* b,
                                           std::size_t elements, BlockDifference* block);
// Adds every pair (x, y) of 8-bit patterns counts[256 * x + y] times, in ascending order; each
// product is multiplied by the count before it is added, all in lane 0.
using AddCountsFunction = void (*)(const std::uint32_t* counts, BlockDifference* block);

// How a dtype is measured: by pairs and vectors, or, with 8 bits, by counting pairs of patterns.
struct DTypeKernels {
  AddPairsFunction add_pairs = nullptr;      // null with 8 bits
  AddVectorsFunction add_vectors = nullptr;  // null without a vector kernel
  AddCountsFunction add_counts = nullptr;    // null but with 8 bits
  bool has_values = true;                    // false: only `differing` is meaningful
};
DTypeKernels KernelsFor(DType dtype, Kernel kernel);

// The vector kernels; null for dtypes without one. Defined on x86-64 alone; call them only on
// machines with these instructions.
AddVectorsFunction Avx2KernelFor(DType dtype);
AddVectorsFunction Avx512KernelFor(DType dtype);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_BLOCK_KERNELS_H_
