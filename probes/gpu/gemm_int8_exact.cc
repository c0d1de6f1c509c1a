// Probe gemm_int8_exact_cuda: cuBLAS products of int8 must be the exact integers.
#include <fmt/format.h>

#include "probes/gpu/gemm.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

// Entries that differ from the integer product, computed here.
std::uint64_t WrongEntries(const DeviceGemmShape& shape, const std::vector<std::byte>& a,
                           const std::vector<std::byte>& b, const std::vector<std::byte>& d) {
  const auto k = static_cast<std::size_t>(shape.k), m = static_cast<std::size_t>(shape.m);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < static_cast<std::size_t>(shape.n); ++j) {
      std::int64_t sum = 0;
      for (std::size_t x = 0; x < k; ++x) {
        sum += std::int64_t{static_cast<std::int8_t>(a[i * k + x])} *
               static_cast<std::int8_t>(b[j * k + x]);
      }
      if (ElementAt(NumberType::kInt32, d, j * m + i) != static_cast<double>(sum)) ++wrong;
    }
  }
  return wrong;
}

Result<ProbeResult> MeasureGemmInt8Exact(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto blas, BlasContext::Open(context));
  ProbeResult result;
  result.parameters.Set("layout", "TN").Set("seed", context.seed);
  for (const auto& [m, n, k] : {std::array{64, 64, 256}, {16, 16, 4096}, {256, 256, 512}}) {
    const DeviceGemmShape shape{m, n, k, NumberType::kInt8, NumberType::kInt32};
    ASSIGN_OR_RETURN(const auto gemm, Gemm::Create(blas, shape));
    const auto scaled = [](std::vector<float> values) {
      for (float& value : values) value *= 128.0F;
      return EncodeAll(NumberType::kInt8, values);
    };
    const auto a = scaled(SeededValues(shape.a_size(), context.seed));
    const auto b = scaled(SeededValues(shape.b_size(), context.seed + 1));
    ASSIGN_OR_RETURN(const auto d,
                     RecordBits(
                         context, shape.Name(), [&] { return gemm->Run(a, b, {}); }, &result));
    const std::uint64_t wrong = WrongEntries(shape, a, b, d);
    result.counts["wrong " + shape.Name()] = wrong;
    if (wrong == 0) continue;
    result.status = ProbeStatus::kFailed;
    result.message += fmt::format("{}: {} of {} entries are not the integer product; ",
                                  shape.Name(), wrong, shape.c_size());
  }
  return result;
}

ProbeResult RunGemmInt8Exact(const ProbeContext& context) {
  return Finish(MeasureGemmInt8Exact(context));
}

const RegisterProbe kGemmInt8ExactProbe({.name = "gemm_int8_exact_cuda",
                                         .family = "gemm",
                                         .summary = "int8 matrix products against exact integers",
                                         .device = ProbeDevice::kGpu,
                                         .run = RunGemmInt8Exact});

}  // namespace
}  // namespace rharness
