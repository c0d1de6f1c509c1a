// What one pair of elements adds to the statistics of two buffers, for host and device alike.
//
// Role: the arithmetic of compare_kernels.cu, so that a test on the host holds it against
// compare/weights. bf16 is the upper half of an fp32: both are measured as fp32 patterns, and steps
// between representable values are shifted down. C++17 without library calls that a device lacks.
#ifndef RHARNESS_TESTS_BENCH_GPU_PAIR_STATISTICS_H_
#define RHARNESS_TESTS_BENCH_GPU_PAIR_STATISTICS_H_

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__CUDACC__)
#define RHARNESS_BOTH __host__ __device__ inline
#else
#define RHARNESS_BOTH inline
#endif

namespace rharness::bench {

constexpr uint32_t kNoIndex = 0xffffffffu;  // so a buffer has at most 2^32 - 1 elements
constexpr uint32_t kUlpBins = 32;           // bin i counts distances in [2^i, 2^(i+1))

// Bits alone. Merging is associative and commutative.
struct BitStatistics {
  uint32_t first_index = kNoIndex;
  uint32_t differing = 0;

  RHARNESS_BOTH void Merge(const BitStatistics& other) {
    if (other.first_index < first_index) first_index = other.first_index;
    differing += other.differing;
  }
};

// As TensorStats and TensorSums of compare/weights, the histogram apart. Merging is associative
// and commutative but for the sums, whose order counts.
struct PairStatistics {
  double a_squared = 0, b_squared = 0, difference_squared = 0, product = 0;
  double max_abs = 0, max_rel = 0;
  uint32_t max_ulp = 0;
  uint32_t first_index = kNoIndex;
  uint32_t differing = 0;
  uint32_t non_finite_changes = 0;
  uint32_t nan_changes = 0;
  uint32_t zero_sign_changes = 0;

  RHARNESS_BOTH void Merge(const PairStatistics& other) {
    a_squared += other.a_squared;
    b_squared += other.b_squared;
    difference_squared += other.difference_squared;
    product += other.product;
    if (other.max_abs > max_abs) max_abs = other.max_abs;
    if (other.max_rel > max_rel) max_rel = other.max_rel;
    if (other.max_ulp > max_ulp) max_ulp = other.max_ulp;
    if (other.first_index < first_index) first_index = other.first_index;
    differing += other.differing;
    non_finite_changes += other.non_finite_changes;
    nan_changes += other.nan_changes;
    zero_sign_changes += other.zero_sign_changes;
  }
};

// How 32 bits of a buffer hold elements. kShift: of an element's pattern within that of an fp32.
struct Fp32Elements {
  static constexpr uint32_t kBytes = 4, kShift = 0;
};
struct Bf16Elements {
  static constexpr uint32_t kBytes = 2, kShift = 16;
};

RHARNESS_BOTH bool IsFinite(uint32_t bits) { return (bits & 0x7f800000u) != 0x7f800000u; }
RHARNESS_BOTH bool IsNan(uint32_t bits) { return (bits & 0x7fffffffu) > 0x7f800000u; }

RHARNESS_BOTH double ValueOf(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return static_cast<double>(value);
}

// Consecutive representable values have consecutive numbers, 0 and -0 too.
RHARNESS_BOTH uint32_t OrderOf(uint32_t bits) {
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

// Of a number above 0.
RHARNESS_BOTH uint32_t FloorLog2(uint32_t number) {
#if defined(__CUDA_ARCH__)
  return 31u - static_cast<uint32_t>(__clz(static_cast<int>(number)));
#else
  return 31u - static_cast<uint32_t>(__builtin_clz(number));
#endif
}

// Bin i of a thread's own histogram is column[i * stride].
struct HistogramColumn {
  uint32_t* bins = nullptr;
  uint32_t stride = 1;
};

template <class Elements>
RHARNESS_BOTH void AddPair(uint32_t x, uint32_t y, uint32_t index, HistogramColumn,
                           BitStatistics* own) {
  if (x == y) return;
  ++own->differing;
  if (index < own->first_index) own->first_index = index;
}

// Distances of a differing pair that is finite on both sides.
template <class Elements>
RHARNESS_BOTH void AddDistances(uint32_t x, uint32_t y, double u, double v, double distance,
                                HistogramColumn column, PairStatistics* own) {
  const uint32_t p = OrderOf(x) >> Elements::kShift, q = OrderOf(y) >> Elements::kShift;
  const uint32_t steps = p < q ? q - p : p - q;
  ++column.bins[FloorLog2(steps) * column.stride];
  if (steps > own->max_ulp) own->max_ulp = steps;
  if (distance > own->max_abs) own->max_abs = distance;
  const double larger = fmax(fabs(u), fabs(v));
  // A quotient above max_rel means a distance above max_rel * larger, and rounding keeps that
  // order; so only pairs that may raise the maximum are divided. Two zeros have no quotient.
  if (larger > 0 && distance >= own->max_rel * larger) {
    own->max_rel = fmax(own->max_rel, distance / larger);
  }
}

// Patterns of an fp32; the lower half of a bf16's is zero.
template <class Elements>
RHARNESS_BOTH void AddPair(uint32_t x, uint32_t y, uint32_t index, HistogramColumn column,
                           PairStatistics* own) {
  const bool finite = IsFinite(x) && IsFinite(y);
  const double u = ValueOf(x), v = ValueOf(y);
  const double distance = fabs(u - v);  // of equal ones 0, if finite
  if (x != y) {
    ++own->differing;
    if (index < own->first_index) own->first_index = index;
    if ((x | y) == 0x80000000u) ++own->zero_sign_changes;
    if (finite) AddDistances<Elements>(x, y, u, v, distance, column, own);
    // Infinities are of one kind only where their patterns are the same; NaNs are always.
    if (!finite && !(IsNan(x) && IsNan(y))) ++own->non_finite_changes;
    if (IsNan(x) != IsNan(y)) ++own->nan_changes;
  }
  if (!finite) return;
  own->a_squared += u * u;
  own->b_squared += v * v;
  own->product += u * v;
  own->difference_squared += distance * distance;
}

}  // namespace rharness::bench

#endif  // RHARNESS_TESTS_BENCH_GPU_PAIR_STATISTICS_H_
