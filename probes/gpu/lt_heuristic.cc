// Probe lt_heuristic: which algorithms cuBLASLt ranks first, before any bit moves.
#include <fmt/format.h>

#include "probes/gpu/gemm.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

constexpr int kHeuristicRanks = 8;

Status RecordHeuristics(const BlasContext& blas, const DeviceGemmShape& shape,
                        const std::string& name, ProbeResult* result) {
  ASSIGN_OR_RETURN(const auto product, LtProduct::Create(blas.lt, ToLtShape(shape)));
  ASSIGN_OR_RETURN(const auto found, product->Heuristic({}, kHeuristicRanks));
  if (found.empty()) result->notes.push_back(name + ": no algorithm");
  for (std::size_t rank = 0; rank < found.size(); ++rank) {
    ASSIGN_OR_RETURN(Json choice, product->Describe(found[rank].algo));
    choice.Set("workspace_bytes", found[rank].workspaceSize);
    result->choices[fmt::format("{} rank {}", name, rank)] = std::move(choice);
  }
  return {};
}

Result<ProbeResult> MeasureLtHeuristic(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto blas, BlasContext::Open(context));
  ProbeResult result;
  const LtLimits limits;
  result.parameters.Set("layout", "TN")
      .Set("workspace_bytes", limits.workspace_bytes)
      .Set("alignment_bytes", limits.alignment_bytes);
  blas.Describe(&result);
  using T = NumberType;
  constexpr std::pair<T, T> types[] = {
      {T::kFp32, T::kFp32}, {T::kTf32, T::kFp32}, {T::kBf16, T::kBf16}, {T::kBf16, T::kFp32},
      {T::kFp16, T::kFp16}, {T::kE4m3, T::kFp32}, {T::kFp64, T::kFp64}, {T::kInt8, T::kInt32}};
  for (const auto& [input, output] : types) {
    for (const auto& [m, n, k] :
         {std::array{128, 128, 256}, {256, 256, 1024}, {16, 16, 2048}, {4096, 4096, 4096}}) {
      const DeviceGemmShape shape{m, n, k, input, output};
      const std::string name = fmt::format("{} {}", NumberTypeName(input), shape.Name());
      NoteUnsupported(RecordHeuristics(blas, shape, name, &result), name, &result);
    }
  }
  return result;
}

ProbeResult RunLtHeuristic(const ProbeContext& context) {
  return Finish(MeasureLtHeuristic(context), Shows::kChoices);
}

const RegisterProbe kLtHeuristicProbe({.name = "lt_heuristic",
                                       .family = "gemm",
                                       .summary = "the eight algorithms that cuBLASLt ranks first",
                                       .device = ProbeDevice::kGpu,
                                       .run = RunLtHeuristic});

}  // namespace
}  // namespace rharness
