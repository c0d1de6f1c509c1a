// Probe cudnn_conv_bits: the bits of each engine of cuDNN, whether they repeat and its note says
// so, and whether they are right.
#include <fmt/format.h>

#include <algorithm>

#include "probes/gpu/cudnn_convolution.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

constexpr std::size_t kEngines = 4;  // of a mode
// An order that varies need not vary in three runs.
constexpr int kLeastRepeats = 10;

Result<ProbeResult> MeasureCudnnConvBits(const ProbeContext& given) {
  ProbeContext context = given;
  context.repeats = std::max(context.repeats, kLeastRepeats);
  ASSIGN_OR_RETURN(const auto cudnn, CudnnContext::Open(context));
  ProbeResult result;
  result.parameters.Set("seed", context.seed).Set("engines_of_a_mode", kEngines);
  result.libraries = cudnn.cudnn->Describe();
  using T = NumberType;
  for (const auto pass : {ConvolutionPass::kForward, ConvolutionPass::kBackwardData,
                          ConvolutionPass::kBackwardFilter}) {
    for (const auto& [type, layout] : {std::pair{T::kFp32, TensorLayout::kNchw},
                                       {T::kFp32, TensorLayout::kNhwc},
                                       {T::kFp16, TensorLayout::kNhwc},
                                       {T::kBf16, TensorLayout::kNhwc}}) {
      const ConvolutionShape shape = BitsShape(type, layout);
      const Status done = RecordConvolutionBits(context, cudnn, pass, shape, kEngines, &result);
      if (done.ok()) continue;
      RecordFailure(fmt::format("{} {}", ConvolutionPassName(pass), shape.Name()), done.error(),
                    &result);
    }
  }
  if (result.bits.empty()) {
    return InternalError("no engine of any convolution could be run: " + result.notes[0]);
  }
  return result;
}

ProbeResult RunCudnnConvBits(const ProbeContext& context) {
  return Finish(MeasureCudnnConvBits(context));
}

const RegisterProbe kCudnnConvBitsProbe(
    {.name = "cudnn_conv_bits",
     .family = "convolution",
     .summary = "bits of cuDNN's convolution engines, and what they say",
     .device = ProbeDevice::kGpu,
     .run = RunCudnnConvBits,
     .limit = std::chrono::seconds(300)});

}  // namespace
}  // namespace rharness
