// Bits of symmetric matrix-vector products, which libraries split over threads or add atomically.
#include <fmt/format.h>

#include "probes/cpu/blas.h"

namespace rharness {
namespace {

ProbeResult RunSymvBits(const ProbeContext& context) {
  return WithBlas(context, [&](const Blas& blas, ProbeResult* result) {
    WithThreads(blas, [&](const std::string& threads) {
      for (const int n : {64, 100, 500}) {
        const auto size = static_cast<std::size_t>(n);
        const std::vector<float> a = RandomFloats(context.seed, size * size);
        const std::vector<float> x = RandomFloats(context.seed + 1, size);
        AddBits(
            context, fmt::format("fp32 {}{}", n, threads),
            [&] {
              std::vector<float> y(size, 0.0F);
              blas.Symv(n, a.data(), x.data(), y.data());
              return y;
            },
            result);
      }
    });
  });
}

const RegisterProbe kSymvBitsProbe({.name = "symv_bits",
                                    .family = "gemm",
                                    .summary = "bits of symmetric matrix-vector products",
                                    .run = RunSymvBits});

}  // namespace
}  // namespace rharness
