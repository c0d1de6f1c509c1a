// The passes of the network, layer by layer.
#include "scenarios/digits_cnn_cuda/gpu/replica.h"

#include <fmt/format.h>

#include "scenarios/digits_cnn_cuda/versions.h"

namespace rharness::scenarios {

Replica::Activations::Activations(const CnnShape& shape, std::size_t capacity)
    : images(capacity * kArea),
      conv1(capacity * shape.channels1() * kArea),
      conv2(capacity * shape.channels2() * kArea),
      pooled(capacity * shape.features()),
      hidden(capacity * shape.hidden),
      logits(capacity * kClasses),
      conv1_slope(capacity * shape.channels1() * kArea),
      conv2_slope(capacity * shape.channels2() * kArea),
      pooled_slope(capacity * shape.features()),
      hidden_slope(capacity * shape.hidden),
      labels(capacity),
      scores(2 * capacity),
      score_sums(2) {}

Replica::Replica(int device, const CnnSetup& setup, std::size_t capacity)
    : device_(device),
      shape_(setup.shape),
      layout_(LayoutOf(setup.shape)),
      tree_reduction_(setup.switches.tree_reduction),
      capacity_(capacity) {
  const CnnSwitches& switches = setup.switches;
  Select();
  RHARNESS_CUDA_CALL(cudaStreamCreate(&stream_));
  side_ = stream_;
  if (switches.two_streams) RHARNESS_CUDA_CALL(cudaStreamCreate(&side_));
  RHARNESS_CUDA_CALL(cudaEventCreateWithFlags(&passed_, cudaEventDisableTiming));
  RHARNESS_CUDA_CALL(cudnnCreate(&cudnn_));
  RHARNESS_CUDA_CALL(cudnnSetStream(cudnn_, stream_));
  products_ = std::make_unique<Products>(switches.tf32);
  const ConvolutionSettings settings{switches.deterministic_convolutions, switches.autotune,
                                     switches.tf32};
  conv1_ = std::make_unique<Convolution>(cudnn_, 1, shape_.channels1(), settings);
  conv2_ = std::make_unique<Convolution>(cudnn_, shape_.channels1(), shape_.channels2(), settings);
  act_ = std::make_unique<Activations>(shape_, capacity);
  parameters_ = DeviceBuffer<float>(layout_.total);
  gradient_ = DeviceBuffer<float>(layout_.total);
  velocity_ = DeviceBuffer<float>(layout_.total);
  RHARNESS_CUDA_CALL(cudaMemcpy(parameters_.data(), setup.initial.data(),
                                layout_.total * sizeof(float), cudaMemcpyHostToDevice));
}

Replica::~Replica() {
  Select();
  cudaDeviceSynchronize();
  conv1_.reset();
  conv2_.reset();
  products_.reset();
  cudnnDestroy(cudnn_);
  cudaEventDestroy(passed_);
  if (side_ != stream_) cudaStreamDestroy(side_);
  cudaStreamDestroy(stream_);
}

void Replica::Select() const { RHARNESS_CUDA_CALL(cudaSetDevice(device_)); }

const float* Replica::Parameter(CnnTensor tensor) const {
  return parameters_.data() + layout_.tensors[tensor].offset;
}

float* Replica::Gradient(CnnTensor tensor) {
  return gradient_.data() + layout_.tensors[tensor].offset;
}

void Replica::Order(cudaStream_t from, cudaStream_t to) {
  if (from == to) return;
  RHARNESS_CUDA_CALL(cudaEventRecord(passed_, from));
  RHARNESS_CUDA_CALL(cudaStreamWaitEvent(to, passed_, 0));
}

void Replica::Sum(const Planes& planes, const float* values, float* sums) {
  (tree_reduction_ ? LaunchSumTree : LaunchSumAtomic)(planes, values, sums, stream_);
}

void Replica::Forward(const Batch& part, std::size_t batch_images) {
  const std::size_t images = part.size();
  images_ = images;
  if (images == 0) return;
  // Pageable memory: the copy is staged before the call returns, so `part` need not outlive it.
  RHARNESS_CUDA_CALL(cudaMemcpyAsync(act_->images.data(), part.pixels.data(),
                                     images * kArea * sizeof(float), cudaMemcpyHostToDevice,
                                     stream_));
  RHARNESS_CUDA_CALL(cudaMemcpyAsync(act_->labels.data(), part.labels.data(), images,
                                     cudaMemcpyHostToDevice, stream_));
  conv1_->Forward(images, act_->images.data(), Parameter(kConv1Weight), act_->conv1.data());
  LaunchBiasRelu({images, shape_.channels1(), kArea}, Parameter(kConv1Bias), act_->conv1.data(),
                 stream_);
  conv2_->Forward(images, act_->conv1.data(), Parameter(kConv2Weight), act_->conv2.data());
  LaunchBiasRelu({images, shape_.channels2(), kArea}, Parameter(kConv2Bias), act_->conv2.data(),
                 stream_);
  LaunchMaxPool(images * shape_.channels2(), kSide, act_->conv2.data(), act_->pooled.data(),
                stream_);
  products_->Multiply({act_->pooled.data(), images, shape_.features()},
                      Transposed({Parameter(kFc1Weight), shape_.hidden, shape_.features()}),
                      act_->hidden.data(), stream_);
  LaunchBiasRelu({images, shape_.hidden, 1}, Parameter(kFc1Bias), act_->hidden.data(), stream_);
  products_->Multiply({act_->hidden.data(), images, shape_.hidden},
                      Transposed({Parameter(kFc2Weight), kClasses, shape_.hidden}),
                      act_->logits.data(), stream_);
  LaunchSoftmaxLoss({images, kClasses, 1.0f / static_cast<float>(batch_images), Parameter(kFc2Bias),
                     act_->labels.data(), act_->logits.data(), act_->scores.data()},
                    stream_);
  Sum({1, 2, images}, act_->scores.data(), act_->score_sums.data());
}

void Replica::BackwardLinear(std::size_t images) {
  const DeviceMatrix logit_slope{act_->logits.data(), images, kClasses};
  const DeviceMatrix hidden_slope{act_->hidden_slope.data(), images, shape_.hidden};
  Order(stream_, side_);
  products_->Multiply(Transposed(logit_slope), {act_->hidden.data(), images, shape_.hidden},
                      Gradient(kFc2Weight), side_);
  Sum({images, kClasses, 1}, act_->logits.data(), Gradient(kFc2Bias));
  products_->Multiply(logit_slope, {Parameter(kFc2Weight), kClasses, shape_.hidden},
                      act_->hidden_slope.data(), stream_);
  LaunchReluSlope(images * shape_.hidden, act_->hidden.data(), act_->hidden_slope.data(), stream_);
  Order(stream_, side_);
  products_->Multiply(Transposed(hidden_slope), {act_->pooled.data(), images, shape_.features()},
                      Gradient(kFc1Weight), side_);
  Sum({images, shape_.hidden, 1}, act_->hidden_slope.data(), Gradient(kFc1Bias));
  products_->Multiply(hidden_slope, {Parameter(kFc1Weight), shape_.hidden, shape_.features()},
                      act_->pooled_slope.data(), stream_);
}

void Replica::BackwardConvolutions(std::size_t images) {
  LaunchMaxPoolReluSlope(images * shape_.channels2(), kSide, act_->conv2.data(),
                         act_->pooled_slope.data(), act_->conv2_slope.data(), stream_);
  conv2_->FilterGradient(images, act_->conv1.data(), act_->conv2_slope.data(),
                         Gradient(kConv2Weight));
  Sum({images, shape_.channels2(), kArea}, act_->conv2_slope.data(), Gradient(kConv2Bias));
  conv2_->InputSlope(images, Parameter(kConv2Weight), act_->conv2_slope.data(),
                     act_->conv1_slope.data());
  LaunchReluSlope(images * shape_.channels1() * kArea, act_->conv1.data(), act_->conv1_slope.data(),
                  stream_);
  conv1_->FilterGradient(images, act_->images.data(), act_->conv1_slope.data(),
                         Gradient(kConv1Weight));
  Sum({images, shape_.channels1(), kArea}, act_->conv1_slope.data(), Gradient(kConv1Bias));
}

void Replica::Differentiate(const Batch& part, std::size_t batch_images) {
  Select();
  Forward(part, batch_images);
  if (part.size() == 0) {
    RHARNESS_CUDA_CALL(
        cudaMemsetAsync(gradient_.data(), 0, layout_.total * sizeof(float), stream_));
    return;
  }
  BackwardLinear(part.size());
  BackwardConvolutions(part.size());
  Order(side_, stream_);
}

void Replica::Step(const SgdStep& step) {
  Select();
  LaunchSgd({layout_.total, step.learning_rate, step.momentum, gradient_.data(), velocity_.data(),
             parameters_.data()},
            stream_);
}

void Replica::Infer(const Batch& part) {
  Select();
  Forward(part, part.size());
}

Score Replica::Wait() {
  Select();
  float sums[2] = {0, 0};
  if (images_ > 0) {
    RHARNESS_CUDA_CALL(cudaMemcpyAsync(sums, act_->score_sums.data(), sizeof(sums),
                                       cudaMemcpyDeviceToHost, stream_));
  }
  RHARNESS_CUDA_CALL(cudaStreamSynchronize(stream_));
  return Score{static_cast<double>(sums[0]), static_cast<std::size_t>(sums[1])};
}

std::vector<float> Replica::Parameters() {
  Select();
  std::vector<float> values(layout_.total);
  RHARNESS_CUDA_CALL(cudaStreamSynchronize(stream_));
  RHARNESS_CUDA_CALL(cudaMemcpy(values.data(), parameters_.data(), layout_.total * sizeof(float),
                                cudaMemcpyDeviceToHost));
  return values;
}

std::map<std::string, std::string> Replica::Software() {
  Select();
  return {{"cublas", LibraryVersion(products_->Version())},
          {"cudnn", LibraryVersion(static_cast<int>(cudnnGetVersion()))},
          {"cudnn_conv1", conv1_->Algorithms()},
          {"cudnn_conv2", conv2_->Algorithms()}};
}

}  // namespace rharness::scenarios
