// Matrix products with one thread and with two: another split is another order of addition.
#include <fmt/format.h>

#include "probes/cpu/blas.h"

namespace rharness {
namespace {

std::vector<float> ThreadedProduct(const Blas& blas, const GemmShape& s, std::uint64_t seed) {
  const auto m = static_cast<std::size_t>(s.m), n = static_cast<std::size_t>(s.n);
  const auto k = static_cast<std::size_t>(s.k);
  const std::vector<float> a = RandomFloats(seed, m * k), b = RandomFloats(seed + 1, k * n);
  std::vector<float> c(m * n, 0.0F);
  blas.Gemm(s, a.data(), b.data(), 0.0F, c.data());
  return c;
}

constexpr int kMostForTree = 64 * 64 * 1000;

ProbeResult RunGemmThreads(const ProbeContext& context) {
  return WithBlas(context, [&](const Blas& blas, ProbeResult* result) {
    const int before = blas.Threads();
    if (!blas.SetThreads(1)) {
      result->notes.push_back("the library has no openblas_set_num_threads");
      return;
    }
    for (const GemmShape& s :
         {GemmShape{64, 64, 64}, {64, 64, 1000}, {256, 256, 256}, {512, 128, 700}}) {
      for (const int threads : {1, 2}) {
        blas.SetThreads(threads);
        const std::string name = fmt::format("{} threads {}", s.Name(), threads);
        AddBits(
            context, name, [&] { return ThreadedProduct(blas, s, context.seed); }, result);
        // Where rows differ in their order every question costs a product of its own.
        if (s.m * s.n * s.k > kMostForTree) continue;
        GemmSum<float> sum(blas, s, false);
        AddTree(context, name, sum, result);
      }
      const auto bits = [&](int threads) {
        return result->bits.at(fmt::format("{} threads {}", s.Name(), threads));
      };
      result->counts["shapes that differ by threads"] += bits(1) != bits(2) ? 1U : 0U;
    }
    blas.SetThreads(before);
  });
}

const RegisterProbe kGemmThreadsProbe(
    {.name = "gemm_threads",
     .family = "gemm",
     .summary = "fp32 matrix products with one and with two threads",
     .run = RunGemmThreads,
     .limit = std::chrono::seconds(600)});

}  // namespace
}  // namespace rharness
