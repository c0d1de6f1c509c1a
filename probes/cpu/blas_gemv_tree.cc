// The order in which the BLAS adds matrix-vector products, plain and transposed.
#include <fmt/format.h>

#include "probes/cpu/blas.h"

namespace rharness {
namespace {

// One output a question: a row of A, or a column when transposed.
class GemvSum final : public MaskedSum {
 public:
  GemvSum(const Blas& blas, bool transposed, int outputs, int terms)
      : blas_(blas), transposed_(transposed), outputs_(outputs), terms_(terms) {}
  int size() const override { return terms_; }
  int max_batch() const override { return outputs_; }
  Status Count(std::span<const MaskPair> pairs, UnitRange units,
               std::span<double> counts) override {
    const auto outputs = static_cast<std::size_t>(outputs_);
    const auto terms = static_cast<std::size_t>(terms_);
    std::vector<float> a(outputs * terms), x(terms, 1.0F), y(outputs), row(terms);
    for (std::size_t i = 0; i < outputs; ++i) {
      FillMasked<float>(pairs[std::min(i, pairs.size() - 1)], units, row);
      for (std::size_t j = 0; j < terms; ++j) {
        a[transposed_ ? i * terms + j : i + j * outputs] = row[j];
      }
    }
    const int m = transposed_ ? terms_ : outputs_, n = transposed_ ? outputs_ : terms_;
    blas_.Gemv(transposed_, m, n, a.data(), x.data(), y.data());
    for (std::size_t i = 0; i < pairs.size(); ++i) counts[i] = static_cast<double>(y[i]);
    return {};
  }

 private:
  const Blas& blas_;
  bool transposed_;
  int outputs_, terms_;
};

ProbeResult RunBlasGemvTree(const ProbeContext& context) {
  return WithBlas(context, [&](const Blas& blas, ProbeResult* result) {
    for (const bool transposed : {false, true}) {
      for (const auto& [outputs, terms] : {std::pair{8, 8}, {64, 100}, {64, 1024}, {1, 1024}}) {
        GemvSum sum(blas, transposed, outputs, terms);
        AddTree(context,
                fmt::format("fp32 {} {} outputs {} terms", transposed ? "T" : "N", outputs, terms),
                sum, result);
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
