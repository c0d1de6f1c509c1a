// Older lists, and algorithms that are run by number.
#include "probes/gpu/cudnn_algorithms.h"

#include <fmt/format.h>

#include <algorithm>

#include "probes/gpu/probe_tools.h"
#include "probes/library/cudnn_legacy.h"

namespace rharness {
namespace {

// Documented: "non-deterministic" beside their names in cudnn_ops.h; and one beside each that must
// repeat.
struct Fixed {
  ConvolutionPass pass;
  int algorithm;
  bool may_vary;
};
constexpr Fixed kFixed[] = {
    {ConvolutionPass::kBackwardData, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, true},
    {ConvolutionPass::kBackwardData, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, false},
    {ConvolutionPass::kBackwardFilter, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, true},
    {ConvolutionPass::kBackwardFilter, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, false},
    {ConvolutionPass::kBackwardFilter, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3, true}};

LegacyDims LegacyDimsOf(const ConvolutionShape& shape, ConvolutionTensor tensor) {
  LegacyDims dims{};
  std::ranges::transform(DimsOf(shape, tensor), dims.begin(),
                         [](std::int64_t dim) { return static_cast<int>(dim); });
  return dims;
}

Result<LegacyConvolution> Describe(const CudnnContext& cudnn, const ConvolutionShape& shape,
                                   cudnnMathType_t math) {
  return LegacyConvolution::Create(cudnn.cudnn, CudnnTypeOfNumber(shape.type), shape.layout,
                                   LegacyDimsOf(shape, ConvolutionTensor::kX),
                                   LegacyDimsOf(shape, ConvolutionTensor::kW),
                                   LegacyDimsOf(shape, ConvolutionTensor::kY), shape.padding, math);
}

Status ListAlgorithms(const CudnnContext& cudnn, const LegacyConvolution& convolution,
                      ConvolutionPass pass, const std::string& name, ProbeResult* result) {
  ASSIGN_OR_RETURN(const auto ranked, convolution.Rank(pass));
  for (std::size_t rank = 0; rank < ranked.size(); ++rank) {
    result->choices[fmt::format("{} rank {}", name, rank)] =
        DescribeLegacyAlgorithm(*cudnn.cudnn, pass, ranked[rank]);
  }
  return {};
}

Status RunFixed(const ProbeContext& context, const CudnnContext& cudnn,
                const LegacyConvolution& convolution, const ConvolutionMemory& memory,
                const Fixed& fixed, const std::string& name, ProbeResult* result) {
  ASSIGN_OR_RETURN(const std::size_t bytes,
                   convolution.WorkspaceBytes(fixed.pass, fixed.algorithm));
  ASSIGN_OR_RETURN(const DeviceBuffer workspace, cudnn.device->Allocate(bytes));
  RETURN_IF_ERROR(memory.Fill(fixed.pass, RoundingData(memory.shape(), context.seed)));
  const auto run = [&] {
    return memory.Compute(fixed.pass, [&] {
      return convolution.Run(fixed.pass, fixed.algorithm, memory.pointer(ConvolutionTensor::kX),
                             memory.pointer(ConvolutionTensor::kW),
                             memory.pointer(ConvolutionTensor::kY), workspace.pointer(), bytes);
    });
  };
  ASSIGN_OR_RETURN(const auto computed, RecordBits(context, name, run, result));
  const bool repeated = result->unstable.empty() || result->unstable.back() != name;
  if (!repeated && !fixed.may_vary) {
    result->notes.push_back(name + ": did not repeat, and is not documented to vary");
  }
  return {};
}

}  // namespace

Status RecordLegacyAlgorithms(const ProbeContext& context, const CudnnContext& cudnn,
                              const ConvolutionShape& shape, cudnnMathType_t math,
                              std::string_view math_name, ProbeResult* result) {
  const std::string name = fmt::format("{} {}", shape.Name(), math_name);
  const auto convolution = Describe(cudnn, shape, math);
  if (!convolution.ok()) {
    NoteUnsupported(convolution.error(), name, result);
    return {};
  }
  for (const auto pass : {ConvolutionPass::kForward, ConvolutionPass::kBackwardData,
                          ConvolutionPass::kBackwardFilter}) {
    const std::string of_pass = fmt::format("{} {}", ConvolutionPassName(pass), name);
    NoteUnsupported(ListAlgorithms(cudnn, *convolution, pass, of_pass, result), of_pass, result);
  }
  ASSIGN_OR_RETURN(const auto memory, ConvolutionMemory::Create(cudnn.device, shape));
  for (const Fixed& fixed : kFixed) {
    const std::string of_fixed =
        fmt::format("{} {} algorithm {}", ConvolutionPassName(fixed.pass), name,
                    LegacyAlgorithmName(fixed.pass, fixed.algorithm));
    NoteUnsupported(RunFixed(context, cudnn, *convolution, memory, fixed, of_fixed, result),
                    of_fixed, result);
  }
  return {};
}

}  // namespace rharness
