// Compares two buffers in device memory by the kernels of compare_kernels.cu.
//
// Role: what rows G3 and G4 time and check. Results are in the terms of compare/weights.
#ifndef RHARNESS_TESTS_BENCH_GPU_DEVICE_COMPARISON_H_
#define RHARNESS_TESTS_BENCH_GPU_DEVICE_COMPARISON_H_

#include <cstdint>
#include <memory>

#include "harness/base/result.h"
#include "probes/gpu/kernels.h"
#include "tests/bench/gpu/bench_device.h"
#include "tests/bench/gpu/comparison_result.h"

namespace rharness {

extern const KernelImage kCompareKernels;

}  // namespace rharness

namespace rharness::bench {

// F32 or BF16 alone.
class DeviceComparison {
 public:
  // Blocks for every multiprocessor, many times over what one holds at once.
  static Result<std::unique_ptr<DeviceComparison>> Create(const BenchDevice& device);

  // Enqueues the kernel of all blocks and the one that merges their results. Errors: invalid_input
  // when there are more than 2^32 - 2 elements.
  Status EnqueueBits(DType dtype, const DeviceBuffer& a, const DeviceBuffer& b,
                     std::uint64_t elements) const;
  Status EnqueueStatistics(DType dtype, const DeviceBuffer& a, const DeviceBuffer& b,
                           std::uint64_t elements) const;
  // Of the last call of either, once it has ended.
  Result<BitStatistics> ReadBits() const;
  Result<TensorDifference> ReadStatistics(DType dtype, std::uint64_t elements) const;

 private:
  explicit DeviceComparison(const BenchDevice& device) : device_(device) {}
  Status Enqueue(CUfunction compare, CUfunction merge, const DeviceBuffer& a, const DeviceBuffer& b,
                 std::uint64_t elements) const;

  const BenchDevice& device_;
  unsigned int blocks_ = 1;
  CUfunction bits_32_ = nullptr, bits_16_ = nullptr, merge_bits_ = nullptr;
  CUfunction fp32_ = nullptr, bf16_ = nullptr, merge_pairs_ = nullptr;
  DeviceBuffer results_, merged_;
};

}  // namespace rharness::bench

#endif  // RHARNESS_TESTS_BENCH_GPU_DEVICE_COMPARISON_H_
