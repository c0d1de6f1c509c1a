// Probe cudnn_conv_tree: the order in which cuDNN's first engines add the products of one pixel,
// and those of one weight's gradient, which are split among blocks if there are many.
#include "probes/gpu/cudnn_convolution.h"
#include "probes/gpu/probe_tools.h"

namespace rharness {
namespace {

constexpr int kQuestions = 64;      // a launch: images, or channels
constexpr std::size_t kOrders = 3;  // engines per type with a revealed order

Result<ProbeResult> MeasureCudnnConvTree(const ProbeContext& context) {
  ASSIGN_OR_RETURN(const auto cudnn, CudnnContext::Open(context));
  ProbeResult result;
  result.parameters.Set("questions", kQuestions).Set("orders_of_a_type", kOrders);
  result.libraries = cudnn.cudnn->Describe();
  using T = NumberType;
  for (const T type : {T::kFp32, T::kTf32, T::kFp16, T::kBf16}) {
    for (const int channels : {32, 128}) {
      ConvolutionShape shape{.n = kQuestions, .c = channels, .k = 64, .side = 3, .filter = 3};
      shape.type = type;
      RETURN_IF_ERROR(RecordConvolutionTrees(context, cudnn, ConvolutionPass::kForward, shape,
                                             kOrders, &result));
    }
    ConvolutionShape gradient{.n = 16, .c = kQuestions, .k = 64, .side = 8, .filter = 1};
    gradient.type = type;
    RETURN_IF_ERROR(RecordConvolutionTrees(context, cudnn, ConvolutionPass::kBackwardFilter,
                                           gradient, kOrders, &result));
  }
  if (result.choices.empty()) return InternalError("no engine of any convolution could be run");
  return result;
}

ProbeResult RunCudnnConvTree(const ProbeContext& context) {
  return Finish(MeasureCudnnConvTree(context));
}

const RegisterProbe kCudnnConvTreeProbe({.name = "cudnn_conv_tree",
                                         .family = "convolution",
                                         .summary = "order of addition in cuDNN convolutions",
                                         .device = ProbeDevice::kGpu,
                                         .run = RunCudnnConvTree,
                                         .limit = std::chrono::seconds(300)});

}  // namespace
}  // namespace rharness
