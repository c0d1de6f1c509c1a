// Products of 8-bit integers against exact integer arithmetic: right or wrong, in any order.
// Carried by the fp32 product: sums stay below 2^24, where fp32 is exact.
#include <fmt/format.h>

#include "probes/cpu/blas.h"

namespace rharness {
namespace {

std::vector<float> RandomInt8(std::uint64_t seed, std::size_t count) {
  std::vector<float> values = RandomFloats(seed, count);
  for (float& value : values) value = std::trunc(value * 128.0F);  // -127 .. 127
  return values;
}

std::uint64_t WrongElements(const Blas& blas, const GemmShape& s, std::uint64_t seed) {
  const auto m = static_cast<std::size_t>(s.m), n = static_cast<std::size_t>(s.n);
  const auto k = static_cast<std::size_t>(s.k);
  const std::vector<float> a = RandomInt8(seed, m * k), b = RandomInt8(seed + 1, k * n);
  std::vector<float> c(m * n, 0.0F);
  blas.Gemm(s, a.data(), b.data(), 0.0F, c.data());
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      std::int64_t exact = 0;
      for (std::size_t p = 0; p < k; ++p) {
        exact += static_cast<std::int64_t>(a[i + p * m]) * static_cast<std::int64_t>(b[p + j * k]);
      }
      wrong += static_cast<double>(c[i + j * m]) != static_cast<double>(exact) ? 1U : 0U;
    }
  }
  return wrong;
}

ProbeResult RunGemmInt8Exact(const ProbeContext& context) {
  return WithBlas(context, [&](const Blas& blas, ProbeResult* result) {
    for (const GemmShape& s : {GemmShape{64, 64, 1024}, {100, 33, 300}, {1, 257, 77}}) {
      const std::uint64_t wrong = WrongElements(blas, s, context.seed);
      result->counts["wrong elements"] += wrong;
      if (wrong == 0) continue;
      result->status = ProbeStatus::kFailed;
      result->message = fmt::format("{}: {} elements differ from exact integers", s.Name(), wrong);
    }
  });
}

const RegisterProbe kGemmInt8ExactProbe({.name = "gemm_int8_exact",
                                         .family = "gemm",
                                         .summary = "products of small integers are exact",
                                         .run = RunGemmInt8Exact});

}  // namespace
}  // namespace rharness
