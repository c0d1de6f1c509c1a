// Whether a row's result depends on how many rows are computed beside it: row 0 for M = 1 .. 64.
#include <fmt/format.h>

#include "probes/cpu/blas.h"

namespace rharness {
namespace {

constexpr int kMostRows = 64;
constexpr std::size_t kColumns = 64, kInner = 512;

std::vector<float> RowZero(const Blas& blas, int rows, std::uint64_t seed) {
  const auto m = static_cast<std::size_t>(rows);
  const std::vector<float> all = RandomFloats(seed, kMostRows * kInner);
  const std::vector<float> b = RandomFloats(seed + 1, kInner * kColumns);
  std::vector<float> a(m * kInner), c(m * kColumns, 0.0F), row(kColumns);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t k = 0; k < kInner; ++k) a[i + k * m] = all[i * kInner + k];
  }
  blas.Gemm({rows, kColumns, kInner}, a.data(), b.data(), 0.0F, c.data());
  for (std::size_t j = 0; j < kColumns; ++j) row[j] = c[j * m];
  return row;
}

// The numbers of rows whose row 0 has these bits: "1-4 9 12-64".
std::string Runs(const std::vector<int>& sorted) {
  std::string text;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t end = i;
    while (end + 1 < sorted.size() && sorted[end + 1] == sorted[end] + 1) ++end;
    if (!text.empty()) text += ' ';
    text += end == i ? fmt::format("{}", sorted[i]) : fmt::format("{}-{}", sorted[i], sorted[end]);
    i = end + 1;
  }
  return text;
}

ProbeResult RunBatchInvariance(const ProbeContext& context) {
  return WithBlas(context, [&](const Blas& blas, ProbeResult* result) {
    std::vector<std::string> order;  // of first appearance
    std::map<std::string, std::vector<int>> classes;
    for (int rows = 1; rows <= kMostRows; ++rows) {
      const std::string name = fmt::format("row 0 of {}", rows);
      AddBits(
          context, name, [&] { return RowZero(blas, rows, context.seed); }, result);
      const std::string& bits = result->bits.at(name);
      if (!classes.contains(bits)) order.push_back(bits);
      classes[bits].push_back(rows);
    }
    Json list = Json::MakeArray();
    for (const std::string& bits : order) list.Append(Runs(classes.at(bits)));
    result->choices["rows of equal bits"] = Json::MakeObject({{"classes", std::move(list)}});
    result->counts["classes"] = order.size();
  });
}

const RegisterProbe kBatchInvarianceProbe(
    {.name = "batch_invariance",
     .family = "gemm",
     .summary = "whether a row's bits depend on the rows beside it",
     .run = RunBatchInvariance});

}  // namespace
}  // namespace rharness
