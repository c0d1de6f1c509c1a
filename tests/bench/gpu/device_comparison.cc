// Launches, and what their results mean.
#include "tests/bench/gpu/device_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace rharness::bench {
namespace {

constexpr unsigned int kBlocksPerMultiprocessor = 16;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSumTolerance = 1e-10;

template <class Value>
Result<Value> ReadValue(const BenchDevice& device, const DeviceBuffer& buffer) {
  ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, device.device().Read(buffer, sizeof(Value)));
  Value value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

bool Same(double found, double expected) {
  return found == expected || (std::isnan(found) && std::isnan(expected));
}

bool Close(double found, double expected, double scale) {
  return Same(found, expected) || std::abs(found - expected) <= kSumTolerance * scale;
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

TensorDifference Describe(const PairResult& result, DType dtype, std::uint64_t elements) {
  const PairStatistics& found = result.statistics;
  TensorDifference difference;
  difference.dtype = dtype;
  difference.elements = elements;
  difference.differing = found.differing;
  difference.first_index = found.differing > 0 ? found.first_index : 0;
  difference.max_ulp = found.max_ulp;
  const bool measured = found.differing == 0 || found.max_ulp > 0;
  difference.max_abs = measured ? found.max_abs : kNan;
  difference.max_rel = measured ? found.max_rel : kNan;
  std::copy_n(result.histogram, kUlpBins, difference.ulp_histogram.begin());
  difference.non_finite_changes = found.non_finite_changes;
  difference.nan_changes = found.nan_changes;
  difference.zero_sign_changes = found.zero_sign_changes;
  difference.norm_a = std::sqrt(found.a_squared);
  difference.norm_b = std::sqrt(found.b_squared);
  difference.norm_difference = std::sqrt(found.difference_squared);
  const double cosine = found.product / difference.norm_a / difference.norm_b;
  difference.cosine = std::isnan(cosine) ? kNan : std::clamp(cosine, -1.0, 1.0);
  return difference;
}

std::string Disagreement(const TensorDifference& found, const TensorDifference& expected) {
  const auto says = [](const char* name, auto of_device, auto of_host) {
    return fmt::format("{} is {} on the device and {} on the host", name, of_device, of_host);
  };
  const auto exact = [&](const char* name, auto member) {
    const auto one = found.*member, other = expected.*member;
    return Same(static_cast<double>(one), static_cast<double>(other)) ? "" : says(name, one, other);
  };
  const auto close = [&](const char* name, auto member, double scale) {
    const double one = found.*member, other = expected.*member;
    return Close(one, other, scale) ? "" : says(name, one, other);
  };
  using D = TensorDifference;
  for (const std::string& one :
       {exact("differing", &D::differing), exact("first_index", &D::first_index),
        exact("max_abs", &D::max_abs), exact("max_rel", &D::max_rel), exact("max_ulp", &D::max_ulp),
        exact("non_finite_changes", &D::non_finite_changes), exact("nan_changes", &D::nan_changes),
        exact("zero_sign_changes", &D::zero_sign_changes),
        close("norm_a", &D::norm_a, expected.norm_a), close("norm_b", &D::norm_b, expected.norm_b),
        close("norm_difference", &D::norm_difference, expected.norm_difference),
        close("cosine", &D::cosine, 1.0)}) {
    if (!one.empty()) return one;
  }
  for (std::size_t bin = 0; bin < expected.ulp_histogram.size(); ++bin) {
    if (found.ulp_histogram[bin] == expected.ulp_histogram[bin]) continue;
    return says(fmt::format("ulp_histogram[{}]", bin).c_str(), found.ulp_histogram[bin],
                expected.ulp_histogram[bin]);
  }
  return {};
}

std::string Disagreement(const BitStatistics& found, const TensorDifference& expected) {
  const std::uint64_t first = found.differing > 0 ? found.first_index : 0;
  if (found.differing == expected.differing && first == expected.first_index) return {};
  return fmt::format("{} differ from {} on by the device, {} from {} on by the host",
                     found.differing, first, expected.differing, expected.first_index);
}

}  // namespace rharness::bench
