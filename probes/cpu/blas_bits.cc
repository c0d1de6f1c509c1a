// Bits of dot products and matrix-vector products, short and long enough for several threads: the
// library's own number of them, and one.
#include <fmt/format.h>

#include "probes/cpu/blas.h"

namespace rharness {
namespace {

constexpr std::size_t kSums = 8;  // of each length: one alone may come out alike by chance

template <class T>
void AddDots(const ProbeContext& context, const Blas& blas, const std::string& type,
             const std::string& threads, ProbeResult* result) {
  for (const int n : {16, 100, 1000, 100'003}) {
    const auto size = static_cast<std::size_t>(n);
    const std::vector<T> x = RandomNumbers<T>(context.seed, kSums * size);
    const std::vector<T> y = RandomNumbers<T>(context.seed + 1, size);
    const auto dot = [&] {
      std::vector<T> sums;
      for (std::size_t i = 0; i < kSums; ++i) {
        sums.push_back(blas.Dot(std::span(x).subspan(i * size, size), std::span(y)));
      }
      return sums;
    };
    AddBits<T>(context, fmt::format("{} dot {}{}", type, n, threads), dot, result);
  }
}

template <class T>
void AddGemvs(const ProbeContext& context, const Blas& blas, const std::string& type,
              const std::string& threads, ProbeResult* result) {
  for (const bool transposed : {false, true}) {
    for (const auto& [m, n] : {std::pair{8, 8}, {67, 101}, {301, 1003}}) {
      const auto rows = static_cast<std::size_t>(m), columns = static_cast<std::size_t>(n);
      const std::vector<T> a = RandomNumbers<T>(context.seed, rows * columns);
      const std::vector<T> x = RandomNumbers<T>(context.seed + 1, transposed ? rows : columns);
      const auto gemv = [&] {
        std::vector<T> y(transposed ? columns : rows);
        blas.Gemv(transposed, m, n, a.data(), x.data(), y.data());
        return y;
      };
      AddBits<T>(context,
                 fmt::format("{} gemv {} {}x{}{}", type, transposed ? "T" : "N", m, n, threads),
                 gemv, result);
    }
  }
}

void AddAll(const ProbeContext& context, const Blas& blas, const std::string& threads,
            ProbeResult* result) {
  AddDots<float>(context, blas, "fp32", threads, result);
  AddDots<double>(context, blas, "fp64", threads, result);
  AddGemvs<float>(context, blas, "fp32", threads, result);
  AddGemvs<double>(context, blas, "fp64", threads, result);
}

ProbeResult RunBlasBits(const ProbeContext& context) {
  return WithBlas(context, [&](const Blas& blas, ProbeResult* result) {
    AddAll(context, blas, "", result);
    const int before = blas.Threads();
    for (const int threads : {1, 2}) {
      if (!blas.SetThreads(threads)) return;
      AddAll(context, blas, fmt::format(" threads {}", threads), result);
    }
    blas.SetThreads(before);
  });
}

const RegisterProbe kBlasBitsProbe({.name = "blas_bits",
                                    .family = "gemm",
                                    .summary = "bits of dot products and matrix-vector products",
                                    .run = RunBlasBits});

}  // namespace
}  // namespace rharness
