// The launches of our kernels as loops over what one thread does.
#include <array>

#include "scenarios/digits_cnn_cuda/gpu/kernel_bodies.h"
#include "scenarios/digits_cnn_cuda/gpu/kernels.h"
#include "tests/scenarios/fake_cuda.h"

namespace rharness::scenarios {
namespace {

std::size_t Bytes(const Planes& planes) {
  return planes.images * planes.channels * planes.area * sizeof(float);
}

template <typename Body>
void ForEach(std::size_t count, cudaStream_t stream, Body body) {
  Enqueue(stream, [count, body] {
    for (std::size_t i = 0; i < count; ++i) body(i);
  });
}

}  // namespace

void LaunchBiasRelu(const Planes& planes, const float* bias, float* values, cudaStream_t stream) {
  CheckRange("BiasRelu bias", bias, planes.channels * sizeof(float), stream);
  CheckRange("BiasRelu values", values, Bytes(planes), stream);
  ForEach(Bytes(planes) / sizeof(float), stream,
          [=](std::size_t i) { body::BiasRelu(planes, bias, i, values); });
}

void LaunchReluSlope(std::size_t count, const float* values, float* slope, cudaStream_t stream) {
  CheckRange("ReluSlope values", values, count * sizeof(float), stream);
  CheckRange("ReluSlope slope", slope, count * sizeof(float), stream);
  ForEach(count, stream, [=](std::size_t i) { body::ReluSlope(values, i, slope); });
}

void LaunchMaxPool(std::size_t planes, std::size_t side, const float* input, float* output,
                   cudaStream_t stream) {
  const std::size_t count = planes * side * side / 4;
  CheckRange("MaxPool input", input, 4 * count * sizeof(float), stream);
  CheckRange("MaxPool output", output, count * sizeof(float), stream);
  ForEach(count, stream, [=](std::size_t i) { body::MaxPool(input, side, i, output); });
}

void LaunchMaxPoolReluSlope(std::size_t planes, std::size_t side, const float* input,
                            const float* output_slope, float* input_slope, cudaStream_t stream) {
  const std::size_t count = planes * side * side / 4;
  CheckRange("MaxPoolReluSlope input", input, 4 * count * sizeof(float), stream);
  CheckRange("MaxPoolReluSlope output slope", output_slope, count * sizeof(float), stream);
  CheckRange("MaxPoolReluSlope input slope", input_slope, 4 * count * sizeof(float), stream);
  ForEach(count, stream, [=](std::size_t i) {
    body::MaxPoolReluSlope(input, output_slope, side, i, input_slope);
  });
}

void LaunchSoftmaxLoss(const SoftmaxArguments& a, cudaStream_t stream) {
  CheckRange("SoftmaxLoss logits", a.logits, a.images * a.classes * sizeof(float), stream);
  CheckRange("SoftmaxLoss bias", a.bias, a.classes * sizeof(float), stream);
  CheckRange("SoftmaxLoss labels", a.labels, a.images, stream);
  CheckRange("SoftmaxLoss scores", a.scores, 2 * a.images * sizeof(float), stream);
  ForEach(a.images, stream, [a](std::size_t i) { body::SoftmaxLoss(a, i); });
}

void LaunchSumTree(const Planes& planes, const float* values, float* sums, cudaStream_t stream) {
  CheckRange("SumTree values", values, Bytes(planes), stream);
  CheckRange("SumTree sums", sums, planes.channels * sizeof(float), stream);
  ForEach(planes.channels, stream, [=](std::size_t channel) {
    std::array<float, kBlockThreads> partial;
    for (std::size_t t = 0; t < kBlockThreads; ++t) {
      partial[t] = body::PartialSum(planes, values, channel, t, kBlockThreads);
    }
    for (std::size_t half = kBlockThreads / 2; half > 0; half /= 2) {
      for (std::size_t t = 0; t < half; ++t) partial[t] += partial[t + half];
    }
    sums[channel] = partial[0];
  });
}

void LaunchSumAtomic(const Planes& planes, const float* values, float* sums, cudaStream_t stream) {
  CheckRange("SumAtomic values", values, Bytes(planes), stream);
  cudaMemsetAsync(sums, 0, planes.channels * sizeof(float), stream);
  ForEach(Bytes(planes) / sizeof(float), stream,
          [=](std::size_t i) { sums[i / planes.area % planes.channels] += values[i]; });
}

void LaunchSgd(const SgdArguments& a, cudaStream_t stream) {
  for (const float* array : {a.gradient, static_cast<const float*>(a.velocity),
                             static_cast<const float*>(a.parameters)}) {
    CheckRange("Sgd", array, a.count * sizeof(float), stream);
  }
  ForEach(a.count, stream, [a](std::size_t i) { body::Sgd(a, i); });
}

}  // namespace rharness::scenarios
