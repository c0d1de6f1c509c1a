// cuDNN's older interface, which names its algorithms: the newer one would choose among engines.
#include "scenarios/digits_cnn_cuda/gpu/convolution.h"

#include <fmt/format.h>

#include <array>

#include "scenarios/digits_cnn_cuda/cnn.h"

namespace rharness::scenarios {
namespace {

constexpr std::size_t kTuningWorkspaceBytes = std::size_t{64} << 20;
constexpr float kOne = 1;
constexpr float kZero = 0;

void SetMaps(cudnnTensorDescriptor_t descriptor, std::size_t images, std::size_t channels) {
  const int side = static_cast<int>(kSide);
  RHARNESS_CUDA_CALL(cudnnSetTensor4dDescriptor(descriptor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT,
                                                static_cast<int>(images),
                                                static_cast<int>(channels), side, side));
}

// The algorithm of the first, and so fastest, result that worked, fits and is as deterministic as
// it has to be; ends the program when there is none. cuDNN also measures with another math type
// than the layer's: `workspace(algorithm, &bytes)` asks whether the layer, as it is set, can have
// it.
template <typename Results, typename Workspace>
auto Fastest(const char* direction, const Results& results, int count,
             const ConvolutionSettings& settings, const Workspace& workspace) {
  for (int i = 0; i < count; ++i) {
    const auto& result = results[static_cast<std::size_t>(i)];
    if (result.status != CUDNN_STATUS_SUCCESS) continue;
    if (settings.deterministic && result.determinism != CUDNN_DETERMINISTIC) continue;
    std::size_t bytes = 0;
    if (workspace(result.algo, &bytes) != CUDNN_STATUS_SUCCESS) continue;
    if (bytes <= kTuningWorkspaceBytes) return result.algo;
  }
  EndOnFailure(direction, "no algorithm that was measured may be taken");
  return results[0].algo;
}

}  // namespace

Convolution::Plan::Plan(std::size_t images, std::size_t inputs, std::size_t outputs) {
  RHARNESS_CUDA_CALL(cudnnCreateTensorDescriptor(&x));
  RHARNESS_CUDA_CALL(cudnnCreateTensorDescriptor(&y));
  SetMaps(x, images, inputs);
  SetMaps(y, images, outputs);
}

Convolution::Plan::~Plan() {
  cudnnDestroyTensorDescriptor(x);
  cudnnDestroyTensorDescriptor(y);
}

Convolution::Convolution(cudnnHandle_t handle, std::size_t inputs, std::size_t outputs,
                         const ConvolutionSettings& settings)
    : handle_(handle), inputs_(inputs), outputs_(outputs), settings_(settings) {
  const int kernel = static_cast<int>(kKernel);
  const int pad = static_cast<int>(kPad);
  RHARNESS_CUDA_CALL(cudnnCreateFilterDescriptor(&filter_));
  RHARNESS_CUDA_CALL(cudnnSetFilter4dDescriptor(filter_, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW,
                                                static_cast<int>(outputs), static_cast<int>(inputs),
                                                kernel, kernel));
  RHARNESS_CUDA_CALL(cudnnCreateConvolutionDescriptor(&convolution_));
  RHARNESS_CUDA_CALL(cudnnSetConvolution2dDescriptor(convolution_, pad, pad, 1, 1, 1, 1,
                                                     CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
  // The default lets single-precision data go to tensor cores as TF32.
  RHARNESS_CUDA_CALL(cudnnSetConvolutionMathType(
      convolution_, settings.tf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH));
}

Convolution::~Convolution() {
  cudnnDestroyConvolutionDescriptor(convolution_);
  cudnnDestroyFilterDescriptor(filter_);
}

Convolution::Plan& Convolution::PlanFor(std::size_t images) {
  if (settings_.autotune) Reserve(kTuningWorkspaceBytes);
  std::unique_ptr<Plan>& plan = plans_[images];
  if (plan == nullptr) plan = std::make_unique<Plan>(images, inputs_, outputs_);
  return *plan;
}

void Convolution::Reserve(std::size_t bytes) {
  if (bytes <= workspace_bytes_) return;
  // Calls that use the old memory may be under way.
  RHARNESS_CUDA_CALL(cudaDeviceSynchronize());
  workspace_ = DeviceBuffer<std::byte>(bytes);
  workspace_bytes_ = bytes;
}

void Convolution::Forward(std::size_t images, const float* x, const float* filter, float* y) {
  Plan& plan = PlanFor(images);
  if (!plan.forward) {
    const auto workspace = [&](cudnnConvolutionFwdAlgo_t algorithm, std::size_t* bytes) {
      return cudnnGetConvolutionForwardWorkspaceSize(handle_, plan.x, filter_, convolution_, plan.y,
                                                     algorithm, bytes);
    };
    plan.forward = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
    if (settings_.autotune) {
      std::array<cudnnConvolutionFwdAlgoPerf_t, CUDNN_CONVOLUTION_FWD_ALGO_COUNT> results = {};
      int count = 0;
      RHARNESS_CUDA_CALL(cudnnFindConvolutionForwardAlgorithmEx(
          handle_, plan.x, x, filter_, filter, convolution_, plan.y, y,
          static_cast<int>(results.size()), &count, results.data(), workspace_.data(),
          workspace_bytes_));
      plan.forward = Fastest("convolution forward", results, count, settings_, workspace);
    }
    std::size_t bytes = 0;
    RHARNESS_CUDA_CALL(workspace(*plan.forward, &bytes));
    Reserve(bytes);
  }
  RHARNESS_CUDA_CALL(cudnnConvolutionForward(handle_, &kOne, plan.x, x, filter_, filter,
                                             convolution_, *plan.forward, workspace_.data(),
                                             workspace_bytes_, &kZero, plan.y, y));
}

void Convolution::FilterGradient(std::size_t images, const float* x, const float* y_slope,
                                 float* gradient) {
  Plan& plan = PlanFor(images);
  if (!plan.filter) {
    const auto workspace = [&](cudnnConvolutionBwdFilterAlgo_t algorithm, std::size_t* bytes) {
      return cudnnGetConvolutionBackwardFilterWorkspaceSize(handle_, plan.x, plan.y, convolution_,
                                                            filter_, algorithm, bytes);
    };
    plan.filter = settings_.deterministic ? CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1
                                          : CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0;
    if (settings_.autotune) {
      std::array<cudnnConvolutionBwdFilterAlgoPerf_t, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT>
          results = {};
      int count = 0;
      RHARNESS_CUDA_CALL(cudnnFindConvolutionBackwardFilterAlgorithmEx(
          handle_, plan.x, x, plan.y, y_slope, convolution_, filter_, gradient,
          static_cast<int>(results.size()), &count, results.data(), workspace_.data(),
          workspace_bytes_));
      plan.filter = Fastest("convolution backward filter", results, count, settings_, workspace);
    }
    std::size_t bytes = 0;
    RHARNESS_CUDA_CALL(workspace(*plan.filter, &bytes));
    Reserve(bytes);
  }
  RHARNESS_CUDA_CALL(cudnnConvolutionBackwardFilter(handle_, &kOne, plan.x, x, plan.y, y_slope,
                                                    convolution_, *plan.filter, workspace_.data(),
                                                    workspace_bytes_, &kZero, filter_, gradient));
}

void Convolution::InputSlope(std::size_t images, const float* filter, const float* y_slope,
                             float* x_slope) {
  Plan& plan = PlanFor(images);
  if (!plan.data) {
    const auto workspace = [&](cudnnConvolutionBwdDataAlgo_t algorithm, std::size_t* bytes) {
      return cudnnGetConvolutionBackwardDataWorkspaceSize(handle_, filter_, plan.y, convolution_,
                                                          plan.x, algorithm, bytes);
    };
    plan.data = settings_.deterministic ? CUDNN_CONVOLUTION_BWD_DATA_ALGO_1
                                        : CUDNN_CONVOLUTION_BWD_DATA_ALGO_0;
    if (settings_.autotune) {
      std::array<cudnnConvolutionBwdDataAlgoPerf_t, CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT> results =
          {};
      int count = 0;
      RHARNESS_CUDA_CALL(cudnnFindConvolutionBackwardDataAlgorithmEx(
          handle_, filter_, filter, plan.y, y_slope, convolution_, plan.x, x_slope,
          static_cast<int>(results.size()), &count, results.data(), workspace_.data(),
          workspace_bytes_));
      plan.data = Fastest("convolution backward data", results, count, settings_, workspace);
    }
    std::size_t bytes = 0;
    RHARNESS_CUDA_CALL(workspace(*plan.data, &bytes));
    Reserve(bytes);
  }
  RHARNESS_CUDA_CALL(cudnnConvolutionBackwardData(handle_, &kOne, filter_, filter, plan.y, y_slope,
                                                  convolution_, *plan.data, workspace_.data(),
                                                  workspace_bytes_, &kZero, plan.x, x_slope));
}

std::string Convolution::Algorithms() const {
  std::string text;
  for (const auto& [images, plan] : plans_) {
    text += fmt::format("{}{}:", text.empty() ? "" : ", ", images);
    if (plan->forward) text += fmt::format(" fwd {}", static_cast<int>(*plan->forward));
    if (plan->filter) text += fmt::format(" filter {}", static_cast<int>(*plan->filter));
    if (plan->data) text += fmt::format(" data {}", static_cast<int>(*plan->data));
  }
  return text;
}

}  // namespace rharness::scenarios
