// Probe batch_invariance_cuda: whether row 0 of a product has the same bits with any number of rows
// beside it. Where it changes, the library has switched kernels.
#include <fmt/format.h>

#include <array>
#include <map>

#include "probes/gpu/gemm.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

constexpr std::array<int, 17> kBatchRows = {1,  2,  3,  4,  8,   9,   16,  17, 32,
                                            33, 64, 65, 96, 128, 129, 192, 256};
constexpr int kBatchColumns = 256, kDepth = 1024;

std::vector<std::byte> FirstRow(const DeviceGemmShape& shape, const std::vector<std::byte>& d) {
  const std::size_t size = BytesOf(shape.output);
  std::vector<std::byte> row;
  for (int j = 0; j < shape.n; ++j) {
    const auto at = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(j) *
                                                static_cast<std::size_t>(shape.m) * size);
    row.insert(row.end(), d.begin() + at, d.begin() + at + static_cast<std::ptrdiff_t>(size));
  }
  return row;
}

// Row 0 of the product with so many rows.
Result<std::vector<std::byte>> RecordRow(const ProbeContext& context, const BlasContext& blas,
                                         const DeviceGemmShape& shape, const std::string& name,
                                         ProbeResult* result) {
  ASSIGN_OR_RETURN(const auto gemm, Gemm::Create(blas, shape));
  // The same seed: row 0 of A and all of B are the same for every number of rows.
  const auto a = EncodeAll(shape.input, RoundingValues(shape.a_size(), context.seed));
  const auto b = EncodeAll(shape.input, RoundingValues(shape.b_size(), context.seed + 1));
  const auto first_row = [&]() -> Result<std::vector<std::byte>> {
    ASSIGN_OR_RETURN(const auto d, gemm->Run(a, b, {}));
    return FirstRow(shape, d);
  };
  return RecordBits(context, name, first_row, result);
}

void RecordBatch(const ProbeContext& context, const BlasContext& blas, NumberType input,
                 NumberType output, ProbeResult* result) {
  std::map<std::string, int> classes;  // row 0's hash to the class, numbered as first seen
  Json by_rows = Json::MakeObject();
  for (const int rows : kBatchRows) {
    const DeviceGemmShape shape{rows, kBatchColumns, kDepth, input, output};
    const std::string name = fmt::format("{} M={}", NumberTypeName(input), rows);
    const auto row = RecordRow(context, blas, shape, name, result);
    if (!row.ok()) {
      NoteUnsupported(row.error(), name, result);
      continue;
    }
    const auto next = static_cast<int>(classes.size());
    by_rows.Set(std::to_string(rows), classes.try_emplace(HashOf(*row), next).first->second);
  }
  if (classes.empty()) return;
  const std::string name(NumberTypeName(input));
  result->choices[name] = by_rows;
  result->counts["classes " + name] = classes.size();
}

Result<ProbeResult> MeasureBatchInvariance(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto blas, BlasContext::Open(context));
  ProbeResult result;
  result.parameters.Set("n", kBatchColumns).Set("k", kDepth).Set("seed", context.seed);
  using T = NumberType;
  constexpr std::pair<T, T> types[] = {
      {T::kFp32, T::kFp32}, {T::kTf32, T::kFp32}, {T::kBf16, T::kBf16}, {T::kFp16, T::kFp16}};
  for (const auto& [input, output] : types) {
    RecordBatch(context, blas, input, output, &result);
  }
  return result;
}

ProbeResult RunBatchInvariance(const ProbeContext& context) {
  return Finish(MeasureBatchInvariance(context));
}

const RegisterProbe kBatchInvarianceProbe({.name = "batch_invariance_cuda",
                                           .family = "gemm",
                                           .summary = "row 0 of a cuBLAS product as rows are added",
                                           .device = ProbeDevice::kGpu,
                                           .run = RunBatchInvariance});

}  // namespace
}  // namespace rharness
