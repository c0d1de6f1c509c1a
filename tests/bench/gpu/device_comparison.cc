// Launches, and reading what they left.
#include "tests/bench/gpu/device_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace rharness::bench {
namespace {

constexpr unsigned int kBlocksPerMultiprocessor = 16;

template <class Value>
Result<Value> ReadValue(const BenchDevice& device, const DeviceBuffer& buffer) {
  ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, device.device().Read(buffer, sizeof(Value)));
  Value value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

}  // namespace

Result<std::unique_ptr<DeviceComparison>> DeviceComparison::Create(const BenchDevice& device) {
  std::unique_ptr<DeviceComparison> made(new DeviceComparison(device));
  const Device& on = device.device();
  made->blocks_ =
      kBlocksPerMultiprocessor * static_cast<unsigned int>(std::max(1, on.multiprocessors()));
  ASSIGN_OR_RETURN(const CUmodule module, on.Load(kCompareKernels));
  ASSIGN_OR_RETURN(made->bits_32_, on.Find(module, "compare_bits_32"));
  ASSIGN_OR_RETURN(made->bits_16_, on.Find(module, "compare_bits_16"));
  ASSIGN_OR_RETURN(made->merge_bits_, on.Find(module, "merge_bits"));
  ASSIGN_OR_RETURN(made->fp32_, on.Find(module, "measure_fp32"));
  ASSIGN_OR_RETURN(made->bf16_, on.Find(module, "measure_bf16"));
  ASSIGN_OR_RETURN(made->merge_pairs_, on.Find(module, "merge_pairs"));
  ASSIGN_OR_RETURN(made->results_, on.Allocate(made->blocks_ * sizeof(PairResult)));
  ASSIGN_OR_RETURN(made->merged_, on.Allocate(sizeof(PairResult)));
  return made;
}

Status DeviceComparison::Enqueue(CUfunction compare, CUfunction merge, const DeviceBuffer& a,
                                 const DeviceBuffer& b, std::uint64_t elements) const {
  if (elements >= kNoIndex) {
    return InvalidInput(fmt::format("{} elements; at most {}", elements, kNoIndex - 1));
  }
  CUdeviceptr a_at = a.address(), b_at = b.address();
  CUdeviceptr results = results_.address(), merged = merged_.address();
  auto count = static_cast<std::uint32_t>(elements);
  std::uint32_t blocks = blocks_;
  RETURN_IF_ERROR(device_.Enqueue(compare, {.blocks = blocks_, .threads = kBlockThreads},
                                  {&a_at, &b_at, &count, &results}));
  return device_.Enqueue(merge, {.blocks = 1, .threads = kBlockThreads},
                         {&results, &blocks, &merged});
}

Status DeviceComparison::EnqueueBits(DType dtype, const DeviceBuffer& a, const DeviceBuffer& b,
                                     std::uint64_t elements) const {
  return Enqueue(dtype == DType::kF32 ? bits_32_ : bits_16_, merge_bits_, a, b, elements);
}

Status DeviceComparison::EnqueueStatistics(DType dtype, const DeviceBuffer& a,
                                           const DeviceBuffer& b, std::uint64_t elements) const {
  return Enqueue(dtype == DType::kF32 ? fp32_ : bf16_, merge_pairs_, a, b, elements);
}

Result<BitStatistics> DeviceComparison::ReadBits() const {
  ASSIGN_OR_RETURN(const BitResult result, ReadValue<BitResult>(device_, merged_));
  return result.statistics;
}

Result<TensorDifference> DeviceComparison::ReadStatistics(DType dtype,
                                                          std::uint64_t elements) const {
  ASSIGN_OR_RETURN(const PairResult result, ReadValue<PairResult>(device_, merged_));
  return Describe(result, dtype, elements);
}

}  // namespace rharness::bench
