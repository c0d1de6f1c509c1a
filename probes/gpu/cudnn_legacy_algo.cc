// Probe cudnn_legacy_algo: the choices of cuDNN's older functions, and whether algorithms that are
// documented not to repeat do.
#include <algorithm>

#include "probes/gpu/cudnn_algorithms.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

constexpr int kLeastLegacyRepeats = 10;

struct LegacyCase {
  NumberType type;
  TensorLayout layout;
  cudnnMathType_t math;
  std::string_view name;
};
constexpr LegacyCase kCases[] = {
    {NumberType::kFp32, TensorLayout::kNchw, CUDNN_DEFAULT_MATH, "default math"},
    {NumberType::kFp32, TensorLayout::kNchw, CUDNN_FMA_MATH, "fma math"},
    {NumberType::kFp16, TensorLayout::kNhwc, CUDNN_TENSOR_OP_MATH, "tensor op math"}};

Result<ProbeResult> MeasureCudnnLegacyAlgo(const ProbeContext& given) {
  ProbeContext context = given;
  context.repeats = std::max(context.repeats, kLeastLegacyRepeats);
  ASSIGN_OR_RETURN(const auto cudnn, CudnnContext::Open(context));
  ProbeResult result;
  result.parameters.Set("seed", context.seed);
  result.libraries = cudnn.cudnn->Describe();
  for (const LegacyCase& one : kCases) {
    RETURN_IF_ERROR(RecordLegacyAlgorithms(context, cudnn, BitsShape(one.type, one.layout),
                                           one.math, one.name, &result));
  }
  return result;
}

ProbeResult RunCudnnLegacyAlgo(const ProbeContext& context) {
  return Finish(MeasureCudnnLegacyAlgo(context));
}

const RegisterProbe kCudnnLegacyAlgoProbe(
    {.name = "cudnn_legacy_algo",
     .family = "convolution",
     .summary = "algorithms that cuDNN's older functions choose",
     .device = ProbeDevice::kGpu,
     .run = RunCudnnLegacyAlgo});

}  // namespace
}  // namespace rharness
