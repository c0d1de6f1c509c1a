// Matrix products with one thread, with two and with the current number: another split is another
// order of addition.
#include <fmt/format.h>

#include "probes/cpu/blas.h"

namespace rharness {
namespace {

template <class T>
std::vector<T> ThreadedProduct(const Blas& blas, const GemmShape& s, std::uint64_t seed) {
  const auto m = static_cast<std::size_t>(s.m), n = static_cast<std::size_t>(s.n);
  const auto k = static_cast<std::size_t>(s.k);
  const std::vector<T> a = RandomNumbers<T>(seed, m * k), b = RandomNumbers<T>(seed + 1, k * n);
  std::vector<T> c(m * n, T(0));
  blas.Gemm(s, a.data(), b.data(), T(0), c.data());
  return c;
}

// Bits and, of the smaller shapes, the tree of one case.
template <class T>
void AddThreaded(const ProbeContext& context, const Blas& blas, const std::string& name,
                 const GemmShape& s, ProbeResult* result) {
  constexpr int kMostForTree = 64 * 64 * 1000;
  AddBits<T>(
      context, name, [&] { return ThreadedProduct<T>(blas, s, context.seed); }, result);
  if (s.m * s.n * s.k > kMostForTree) return;
  AddProduct(context, name, GemmProduct<T>(blas, s, false), result);
}

// With the threads in force, `before`, then with one and with two.
template <class T>
void AddAllThreads(const ProbeContext& context, const Blas& blas, const std::string& type,
                   const GemmShape& s, int before, ProbeResult* result) {
  const std::string all = fmt::format("{}{} threads all", type, s.Name());
  blas.SetThreads(before);
  // With one or two in force its tree is that of the case below.
  if (before > 2) {
    AddThreaded<T>(context, blas, all, s, result);
  } else {
    AddBits<T>(
        context, all, [&] { return ThreadedProduct<T>(blas, s, context.seed); }, result);
  }
  std::vector<std::string> bits;
  for (const int threads : {1, 2}) {
    blas.SetThreads(threads);
    const std::string name = fmt::format("{}{} threads {}", type, s.Name(), threads);
    AddThreaded<T>(context, blas, name, s, result);
    bits.push_back(result->bits.at(name));
  }
  result->counts["shapes that differ by threads"] += bits[0] != bits[1] ? 1U : 0U;
}

ProbeResult RunGemmThreads(const ProbeContext& context) {
  return WithBlas(context, [&](const Blas& blas, ProbeResult* result) {
    const int before = blas.Threads();
    if (!blas.SetThreads(1)) {
      result->notes.push_back("the library cannot set its threads");
      return;
    }
    for (const GemmShape& s :
         {GemmShape{64, 64, 64}, {64, 64, 1000}, {256, 256, 256}, {512, 128, 700}}) {
      AddAllThreads<float>(context, blas, "", s, before, result);
    }
    for (const GemmShape& s : {GemmShape{64, 64, 1000}, {512, 128, 700}}) {
      AddAllThreads<double>(context, blas, "fp64 ", s, before, result);
    }
    blas.SetThreads(before);
  });
}

const RegisterProbe kGemmThreadsProbe({.name = "gemm_threads",
                                       .family = "gemm",
                                       .summary = "matrix products with one thread, two and all",
                                       .run = RunGemmThreads,
                                       .limit = std::chrono::seconds(600)});

}  // namespace
}  // namespace rharness
