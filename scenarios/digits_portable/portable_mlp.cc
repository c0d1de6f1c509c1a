// Forward, backward and step as loops. Inner loops run over independent elements: a compiler may
// vectorise them without changing a bit.
#include "scenarios/digits_portable/portable_mlp.h"

#include <algorithm>
#include <utility>

#include "scenarios/digits_portable/exp_log.h"

namespace rharness::scenarios {
namespace {

std::vector<float> Transpose(const std::vector<float>& matrix, std::size_t rows) {
  const std::size_t columns = matrix.size() / rows;
  std::vector<float> result(matrix.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      result[column * rows + row] = matrix[row * columns + column];
    }
  }
  return result;
}

// y += a * x
void AddScaled(float a, const float* x, std::size_t count, float* y) {
  for (std::size_t i = 0; i < count; ++i) y[i] += a * x[i];
}

// The cross-entropy of one image; `slope` becomes softmax(logits) - one_hot(label).
double SoftmaxLoss(const std::array<float, kClasses>& logits, std::size_t label,
                   std::array<float, kClasses>* slope) {
  const float peak = *std::max_element(logits.begin(), logits.end());
  std::array<double, kClasses> powers;
  double sum = 0;
  for (std::size_t c = 0; c < kClasses; ++c) {
    powers[c] = PortableExp(static_cast<double>(logits[c] - peak));
    sum += powers[c];
  }
  for (std::size_t c = 0; c < kClasses; ++c) (*slope)[c] = static_cast<float>(powers[c] / sum);
  (*slope)[label] -= 1.0f;
  return PortableLog(sum) - static_cast<double>(logits[label] - peak);
}

}  // namespace

PortableMlp::Layer PortableMlp::MakeLayer(std::vector<float> value) {
  const std::size_t count = value.size();
  return Layer{std::move(value), std::vector<float>(count), std::vector<float>(count)};
}

PortableMlp::PortableMlp(const Parameters& initial)
    : hidden_(initial.hidden),
      weight1_(MakeLayer(Transpose(initial.fc1_weight, hidden_))),
      bias1_(MakeLayer(initial.fc1_bias)),
      weight2_(MakeLayer(Transpose(initial.fc2_weight, kClasses))),
      bias2_(MakeLayer(initial.fc2_bias)),
      activation_(hidden_),
      activation_slope_(hidden_) {}

PortableMlp::Logits PortableMlp::Forward(const float* image) {
  activation_ = bias1_.value;
  for (std::size_t k = 0; k < kPixels; ++k) {
    AddScaled(image[k], weight1_.value.data() + k * hidden_, hidden_, activation_.data());
  }
  for (float& value : activation_) value = value > 0 ? value : 0.0f;
  Logits logits;
  std::copy(bias2_.value.begin(), bias2_.value.end(), logits.begin());
  for (std::size_t j = 0; j < hidden_; ++j) {
    AddScaled(activation_[j], weight2_.value.data() + j * kClasses, kClasses, logits.data());
  }
  return logits;
}

void PortableMlp::Backward(const float* image, const Logits& slope) {
  AddScaled(1.0f, slope.data(), kClasses, bias2_.gradient.data());
  for (std::size_t j = 0; j < hidden_; ++j) {
    AddScaled(activation_[j], slope.data(), kClasses, weight2_.gradient.data() + j * kClasses);
    float sum = 0;
    for (std::size_t c = 0; c < kClasses; ++c) sum += weight2_.value[j * kClasses + c] * slope[c];
    activation_slope_[j] = activation_[j] > 0 ? sum : 0.0f;
  }
  AddScaled(1.0f, activation_slope_.data(), hidden_, bias1_.gradient.data());
  for (std::size_t k = 0; k < kPixels; ++k) {
    AddScaled(image[k], activation_slope_.data(), hidden_, weight1_.gradient.data() + k * hidden_);
  }
}

void PortableMlp::Step(const SgdStep& step, float scale, Layer* layer) {
  float* value = layer->value.data();
  float* gradient = layer->gradient.data();
  float* velocity = layer->velocity.data();
  for (std::size_t i = 0; i < layer->value.size(); ++i) {
    velocity[i] = step.momentum * velocity[i] + scale * gradient[i];
    value[i] -= step.learning_rate * velocity[i];
    gradient[i] = 0.0f;
  }
}

double PortableMlp::TrainBatch(const Batch& batch, const SgdStep& step) {
  double loss_sum = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const float* image = batch.pixels.data() + i * kPixels;
    Logits slope;
    loss_sum += SoftmaxLoss(Forward(image), batch.labels[i], &slope);
    Backward(image, slope);
  }
  const float scale = 1.0f / static_cast<float>(batch.size());
  for (Layer* layer : {&weight1_, &bias1_, &weight2_, &bias2_}) Step(step, scale, layer);
  return loss_sum;
}

Score PortableMlp::Evaluate(const Batch& batch) {
  Score score;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Logits logits = Forward(batch.pixels.data() + i * kPixels);
    Logits slope;
    score.loss_sum += SoftmaxLoss(logits, batch.labels[i], &slope);
    const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
    if (static_cast<std::size_t>(best) == batch.labels[i]) ++score.correct;
  }
  return score;
}

std::vector<Tensor> PortableMlp::Export() const {
  return TensorsOf(Parameters{hidden_, Transpose(weight1_.value, kPixels), bias1_.value,
                              Transpose(weight2_.value, hidden_), bias2_.value});
}

}  // namespace rharness::scenarios
