// Rows of masks through our own kernels.
#include "probes/gpu/row_sum.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

constexpr int kRowMaskExponent = 120;

}  // namespace

std::vector<float> MaskedRows(std::span<const MaskPair> pairs, UnitRange units, int n,
                              int mask_exponent) {
  const float mask = std::ldexp(1.0F, mask_exponent);
  const auto length = static_cast<std::size_t>(n);
  std::vector<float> rows(pairs.size() * length, 0.0F);
  for (std::size_t q = 0; q < pairs.size(); ++q) {
    float* row = rows.data() + q * length;
    std::fill(row + units.begin, row + units.end, 1.0F);
    row[pairs[q].plus] = mask;
    row[pairs[q].minus] = -mask;
  }
  return rows;
}

Status RowSum::Count(std::span<const MaskPair> pairs, UnitRange units, std::span<double> counts) {
  ASSIGN_OR_RETURN(const DeviceBuffer in,
                   device_.Upload(MaskedRows(pairs, units, n_, kRowMaskExponent)));
  ASSIGN_OR_RETURN(const DeviceBuffer out, device_.Allocate(pairs.size() * sizeof(float)));
  CUdeviceptr in_at = in.address(), out_at = out.address();
  int length = n_;
  RETURN_IF_ERROR(device_.Launch(kernel_, {static_cast<unsigned int>(pairs.size()), threads_},
                                 {&in_at, &out_at, &length}));
  ASSIGN_OR_RETURN(const auto bytes, device_.Read(out, pairs.size() * sizeof(float)));
  std::vector<float> sums(pairs.size());
  std::memcpy(sums.data(), bytes.data(), bytes.size());
  std::ranges::copy(sums, counts.begin());
  return {};
}

Status RecordKnownTree(const ProbeContext& context, const Device& device, CUmodule module,
                       const std::string& kernel, unsigned int threads, int n,
                       const Result<SumTree>& expected, ProbeResult* result) {
  if (!expected.ok()) return expected.error();
  ASSIGN_OR_RETURN(const CUfunction function, device.Find(module, kernel));
  RowSum sum(device, function, threads, n);
  const std::string name = kernel + " " + std::to_string(n);
  RETURN_IF_ERROR(RecordTree(context, name, sum, result));
  const auto found = result->trees.find(name);
  if (found != result->trees.end() && found->second == *expected) return {};
  result->status = ProbeStatus::kFailed;
  result->message += name + ": not the order of the source; ";
  return {};
}

}  // namespace rharness
