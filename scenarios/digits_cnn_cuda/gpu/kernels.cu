// The kernels around kernel_bodies.h, and the two sums.
#include <cstdio>
#include <cstdlib>

#include "scenarios/digits_cnn_cuda/gpu/kernel_bodies.h"
#include "scenarios/digits_cnn_cuda/gpu/kernels.h"

namespace rharness::scenarios {
namespace {

// Calls `body(i)` for each i below `count`; the threads of the grid share them out.
template <typename Body>
__global__ void ForEach(std::size_t count, Body body) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    body(i);
  }
}

__global__ void SumTree(Planes planes, const float* values, float* sums) {
  __shared__ float partial[kBlockThreads];
  const std::size_t channel = blockIdx.x;
  const unsigned thread = threadIdx.x;
  partial[thread] = body::PartialSum(planes, values, channel, thread, kBlockThreads);
  __syncthreads();
  for (unsigned half = kBlockThreads / 2; half > 0; half /= 2) {
    if (thread < half) partial[thread] += partial[thread + half];
    __syncthreads();
  }
  if (thread == 0) sums[channel] = partial[0];
}

void EndOnError(const char* what, cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "error: %s: %s: %s\n", what, cudaGetErrorName(status),
               cudaGetErrorString(status));
  std::fflush(nullptr);
  std::_Exit(1);
}

template <typename Body>
void LaunchForEach(const char* name, std::size_t count, cudaStream_t stream, Body body) {
  if (count == 0) return;
  constexpr std::size_t kMaxBlocks = 65535;
  const std::size_t wanted = (count + kBlockThreads - 1) / kBlockThreads;
  const auto blocks = static_cast<unsigned>(wanted < kMaxBlocks ? wanted : kMaxBlocks);
  ForEach<<<blocks, static_cast<unsigned>(kBlockThreads), 0, stream>>>(count, body);
  EndOnError(name, cudaGetLastError());
}

}  // namespace

void LaunchBiasRelu(const Planes& planes, const float* bias, float* values, cudaStream_t stream) {
  LaunchForEach("BiasRelu", planes.images * planes.channels * planes.area, stream,
                [planes, bias, values] __device__(std::size_t i) {
                  body::BiasRelu(planes, bias, i, values);
                });
}

void LaunchReluSlope(std::size_t count, const float* values, float* slope, cudaStream_t stream) {
  LaunchForEach("ReluSlope", count, stream,
                [values, slope] __device__(std::size_t i) { body::ReluSlope(values, i, slope); });
}

void LaunchMaxPool(std::size_t planes, std::size_t side, const float* input, float* output,
                   cudaStream_t stream) {
  LaunchForEach(
      "MaxPool", planes * (side / 2) * (side / 2), stream,
      [side, input, output] __device__(std::size_t i) { body::MaxPool(input, side, i, output); });
}

void LaunchMaxPoolReluSlope(std::size_t planes, std::size_t side, const float* input,
                            const float* output_slope, float* input_slope, cudaStream_t stream) {
  LaunchForEach("MaxPoolReluSlope", planes * (side / 2) * (side / 2), stream,
                [side, input, output_slope, input_slope] __device__(std::size_t i) {
                  body::MaxPoolReluSlope(input, output_slope, side, i, input_slope);
                });
}

void LaunchSoftmaxLoss(const SoftmaxArguments& arguments, cudaStream_t stream) {
  LaunchForEach("SoftmaxLoss", arguments.images, stream,
                [arguments] __device__(std::size_t i) { body::SoftmaxLoss(arguments, i); });
}

void LaunchSumTree(const Planes& planes, const float* values, float* sums, cudaStream_t stream) {
  SumTree<<<static_cast<unsigned>(planes.channels), static_cast<unsigned>(kBlockThreads), 0,
            stream>>>(planes, values, sums);
  EndOnError("SumTree", cudaGetLastError());
}

void LaunchSumAtomic(const Planes& planes, const float* values, float* sums, cudaStream_t stream) {
  EndOnError("SumAtomic", cudaMemsetAsync(sums, 0, planes.channels * sizeof(float), stream));
  LaunchForEach("SumAtomic", planes.images * planes.channels * planes.area, stream,
                [planes, values, sums] __device__(std::size_t i) {
                  atomicAdd(sums + i / planes.area % planes.channels, values[i]);
                });
}

void LaunchSgd(const SgdArguments& arguments, cudaStream_t stream) {
  LaunchForEach("Sgd", arguments.count, stream,
                [arguments] __device__(std::size_t i) { body::Sgd(arguments, i); });
}

}  // namespace rharness::scenarios
