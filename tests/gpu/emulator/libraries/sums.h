// Sums of products in a stated order: what every matrix product and convolution of these libraries
// is made of.
//
// Role: the order is data (SumOrder), so that a test can plant it and build its tree by itself. A
// result is the same for equal factors; equal rows are computed once. Who asks for large products
// keeps them (kept_results.h).
#ifndef RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_SUMS_H_
#define RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_SUMS_H_

#include <cstdint>
#include <vector>

namespace rharness {

// k summands in `slices` contiguous parts of equal length, the last ones shorter. A part in `lanes`
// accumulators, summand i of it in lane i % lanes, rising; then lane l takes lane l + lanes / 2,
// and so on in halves. Or, with one lane, in groups: the accumulator and the next `group` summands
// in one addition. Then the parts, rising from the first, or from part `turn` and round.
struct SumOrder {
  int slices = 1;
  int lanes = 1;  // a power of two
  int group = 1;
  unsigned turn = 0;
  bool operator==(const SumOrder&) const = default;
};

enum class Arithmetic {
  kF32,     // products and sums rounded to fp32
  kF64,     // to fp64
  kI32,     // whole numbers, exact
  kTensor,  // groups: cut towards zero `places` below the largest, the sum to fp32
};

struct Product {
  SumOrder order;
  Arithmetic arithmetic = Arithmetic::kF32;
  int places = 25;  // of kTensor
  int m = 0, n = 0, k = 0;
  std::vector<double> a, b;  // m and n rows of k factors
};

// m by n, a's rows fastest.
std::vector<double> Multiply(const Product& product);

// One sum, in fp32.
float AddInOrder(const SumOrder& order, const std::vector<float>& values);

}  // namespace rharness

#endif  // RHARNESS_TESTS_GPU_EMULATOR_LIBRARIES_SUMS_H_
