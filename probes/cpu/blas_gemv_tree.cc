// The order in which the BLAS adds matrix-vector products, plain and transposed.
#include <fmt/format.h>

#include "probes/cpu/blas.h"

namespace rharness {
namespace {

// As a product of one column. The transposed case needs the matrix in columns of its own.
MatrixProduct<float> GemvProduct(const Blas& blas, bool transposed, int outputs, int terms) {
  MatrixProduct<float> product{.shape = {outputs, 1, terms}};
  if (!transposed) {
    product.run = [=, &blas](const float* a, const float* b, float* c) {
      blas.Gemv(false, outputs, terms, a, b, c);
    };
    return product;
  }
  product.run = [=, &blas](const float* a, const float* b, float* c) {
    const auto m = static_cast<std::size_t>(outputs), k = static_cast<std::size_t>(terms);
    std::vector<float> columns(m * k);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t p = 0; p < k; ++p) columns[i * k + p] = a[i + p * m];
    }
    blas.Gemv(true, terms, outputs, columns.data(), b, c);
  };
  return product;
}

ProbeResult RunBlasGemvTree(const ProbeContext& context) {
  return WithBlas(context, [&](const Blas& blas, ProbeResult* result) {
    for (const bool transposed : {false, true}) {
      for (const auto& [outputs, terms] : {std::pair{8, 8}, {64, 100}, {64, 1024}, {1, 1024}}) {
        AddProduct(
            context,
            fmt::format("fp32 {} {} outputs {} terms", transposed ? "T" : "N", outputs, terms),
            GemvProduct(blas, transposed, outputs, terms), result);
      }
    }
  });
}

const RegisterProbe kBlasGemvTreeProbe(
    {.name = "blas_gemv_tree",
     .family = "gemm",
     .summary = "order of addition of BLAS matrix-vector products",
     .run = RunBlasGemvTree,
     .limit = std::chrono::seconds(600)});

}  // namespace
}  // namespace rharness
