// The order in which the BLAS adds a dot product. OpenBLAS splits it over threads above 10,000.
#include <fmt/format.h>

#include "probes/cpu/blas.h"

namespace rharness {
namespace {

template <class T>
void AddDot(const ProbeContext& context, const Blas& blas, const std::string& type, int n,
            ProbeResult* result) {
  const auto run = [&](const T* a, const T* b, T* c) {
    const auto size = static_cast<std::size_t>(n);
    *c = blas.Dot(std::span(a, size), std::span(b, size));
  };
  AddProduct<T>(context, fmt::format("{} {}", type, n), {.shape = {1, 1, n}, .run = run}, result);
}

ProbeResult RunBlasDotTree(const ProbeContext& context) {
  return WithBlas(context, [&](const Blas& blas, ProbeResult* result) {
    for (const int n : {16, 100, 1024, 10'016}) AddDot<float>(context, blas, "fp32", n, result);
    for (const int n : {16, 100, 1024}) AddDot<double>(context, blas, "fp64", n, result);
  });
}

const RegisterProbe kBlasDotTreeProbe({.name = "blas_dot_tree",
                                       .family = "gemm",
                                       .summary = "order of addition of BLAS dot products",
                                       .run = RunBlasDotTree,
                                       .limit = std::chrono::seconds(600)});

}  // namespace
}  // namespace rharness
