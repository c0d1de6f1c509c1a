// Forward and backward by the definitions of the layers, one loop nest each.
#include "scenarios/digits_cnn_cuda/cpu_cnn.h"

#include <algorithm>
#include <cmath>

namespace rharness::scenarios {
namespace {

// Calls visit(output, input, count): along `count` values of a row, an output and the input under
// filter tap (tap_row, tap_column). Padding is zero and is left out.
template <typename Visit>
void ForTap(std::size_t tap_row, std::size_t tap_column, Visit visit) {
  const std::size_t first_column = tap_column < kPad ? kPad - tap_column : 0;
  const std::size_t last_column = std::min(kSide, kSide + kPad - tap_column);
  for (std::size_t row = 0; row < kSide; ++row) {
    const std::size_t padded = row + tap_row;
    if (padded < kPad || padded >= kSide + kPad) continue;
    visit(row * kSide + first_column, (padded - kPad) * kSide + first_column + tap_column - kPad,
          last_column - first_column);
  }
}

// Calls visit(output channel, input channel, tap row, tap column, index of the filter's value).
template <typename Visit>
void ForFilter(std::size_t outputs, std::size_t inputs, Visit visit) {
  std::size_t index = 0;
  for (std::size_t output = 0; output < outputs; ++output) {
    for (std::size_t input = 0; input < inputs; ++input) {
      for (std::size_t tap = 0; tap < kKernel * kKernel; ++tap, ++index) {
        visit(output, input, tap / kKernel, tap % kKernel, index);
      }
    }
  }
}

template <typename Real>
void Rectify(std::vector<Real>* values) {
  for (Real& value : *values) value = value > 0 ? value : Real{0};
}

// The slope of what came before a ReLU that gave `values`.
template <typename Real>
void RectifySlope(const std::vector<Real>& values, std::vector<Real>* slope) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!(values[i] > 0)) (*slope)[i] = 0;
  }
}

// y [outputs, kArea] = bias + filter * x [inputs, kArea]: a cross-correlation, as cuDNN's is.
template <typename Real>
void Convolve(const Real* bias, const Real* filter, const std::vector<Real>& x,
              std::vector<Real>* y) {
  const std::size_t inputs = x.size() / kArea;
  const std::size_t outputs = y->size() / kArea;
  for (std::size_t i = 0; i < y->size(); ++i) (*y)[i] = bias[i / kArea];
  ForFilter(outputs, inputs, [&](auto output, auto input, auto row, auto column, auto index) {
    const Real weight = filter[index];
    ForTap(row, column, [&](std::size_t to, std::size_t from, std::size_t count) {
      Real* out = y->data() + output * kArea + to;
      const Real* in = x.data() + input * kArea + from;
      for (std::size_t i = 0; i < count; ++i) out[i] += weight * in[i];
    });
  });
}

// Adds the gradients of bias and filter; with x_slope, adds the slope of the input, too.
template <typename Real>
void ConvolveBack(const std::vector<Real>& y_slope, const Real* filter, const std::vector<Real>& x,
                  Real* bias_gradient, Real* filter_gradient, std::vector<Real>* x_slope) {
  const std::size_t inputs = x.size() / kArea;
  const std::size_t outputs = y_slope.size() / kArea;
  for (std::size_t i = 0; i < y_slope.size(); ++i) bias_gradient[i / kArea] += y_slope[i];
  ForFilter(outputs, inputs, [&](auto output, auto input, auto row, auto column, auto index) {
    Real sum = 0;
    ForTap(row, column, [&](std::size_t to, std::size_t from, std::size_t count) {
      const Real* slope = y_slope.data() + output * kArea + to;
      const Real* in = x.data() + input * kArea + from;
      for (std::size_t i = 0; i < count; ++i) sum += slope[i] * in[i];
      if (x_slope == nullptr) return;
      Real* in_slope = x_slope->data() + input * kArea + from;
      for (std::size_t i = 0; i < count; ++i) in_slope[i] += filter[index] * slope[i];
    });
    filter_gradient[index] += sum;
  });
}

// y = bias + weight x
template <typename Real>
void Multiply(const Real* bias, const Real* weight, const std::vector<Real>& x,
              std::vector<Real>* y) {
  for (std::size_t row = 0; row < y->size(); ++row) {
    Real sum = bias[row];
    for (std::size_t i = 0; i < x.size(); ++i) sum += weight[row * x.size() + i] * x[i];
    (*y)[row] = sum;
  }
}

// Adds the gradients of bias and weight; returns the slope of x.
template <typename Real>
std::vector<Real> MultiplyBack(const std::vector<Real>& y_slope, const Real* weight,
                               const std::vector<Real>& x, Real* bias_gradient,
                               Real* weight_gradient) {
  std::vector<Real> x_slope(x.size());
  for (std::size_t row = 0; row < y_slope.size(); ++row) {
    bias_gradient[row] += y_slope[row];
    for (std::size_t i = 0; i < x.size(); ++i) {
      weight_gradient[row * x.size() + i] += y_slope[row] * x[i];
      x_slope[i] += weight[row * x.size() + i] * y_slope[row];
    }
  }
  return x_slope;
}

}  // namespace

template <typename Real>
CpuCnn<Real>::CpuCnn(const CnnShape& shape, const std::vector<float>& initial)
    : shape_(shape),
      layout_(LayoutOf(shape)),
      parameters_(initial.begin(), initial.end()),
      gradient_(layout_.total),
      velocity_(layout_.total) {
  trace_.image.resize(kArea);
  trace_.conv1.resize(shape.channels1() * kArea);
  trace_.conv2.resize(shape.channels2() * kArea);
  trace_.peaks.resize(shape.features());
  trace_.pooled.resize(shape.features());
  trace_.hidden.resize(shape.hidden);
  trace_.logits.resize(kClasses);
}

template <typename Real>
const Real* CpuCnn<Real>::Parameter(CnnTensor tensor) const {
  return parameters_.data() + layout_.tensors[tensor].offset;
}

template <typename Real>
Real* CpuCnn<Real>::Gradient(CnnTensor tensor) {
  return gradient_.data() + layout_.tensors[tensor].offset;
}

template <typename Real>
void CpuCnn<Real>::Pool() {
  for (std::size_t feature = 0; feature < trace_.pooled.size(); ++feature) {
    const std::size_t cell = feature % kPooledArea;
    const std::size_t corner =
        feature / kPooledArea * kArea + cell / kPooledSide * 2 * kSide + cell % kPooledSide * 2;
    std::size_t peak = corner;
    for (const std::size_t other : {corner + 1, corner + kSide, corner + kSide + 1}) {
      if (trace_.conv2[other] > trace_.conv2[peak]) peak = other;
    }
    trace_.peaks[feature] = peak;
    trace_.pooled[feature] = trace_.conv2[peak];
  }
}

template <typename Real>
void CpuCnn<Real>::Forward(const float* image) {
  std::copy(image, image + kArea, trace_.image.begin());
  Convolve(Parameter(kConv1Bias), Parameter(kConv1Weight), trace_.image, &trace_.conv1);
  Rectify(&trace_.conv1);
  Convolve(Parameter(kConv2Bias), Parameter(kConv2Weight), trace_.conv1, &trace_.conv2);
  Rectify(&trace_.conv2);
  Pool();
  Multiply(Parameter(kFc1Bias), Parameter(kFc1Weight), trace_.pooled, &trace_.hidden);
  Rectify(&trace_.hidden);
  Multiply(Parameter(kFc2Bias), Parameter(kFc2Weight), trace_.hidden, &trace_.logits);
}

template <typename Real>
void CpuCnn<Real>::Backward(const std::vector<Real>& logit_slope) {
  std::vector<Real> hidden_slope = MultiplyBack(logit_slope, Parameter(kFc2Weight), trace_.hidden,
                                                Gradient(kFc2Bias), Gradient(kFc2Weight));
  RectifySlope(trace_.hidden, &hidden_slope);
  const std::vector<Real> pooled_slope = MultiplyBack(
      hidden_slope, Parameter(kFc1Weight), trace_.pooled, Gradient(kFc1Bias), Gradient(kFc1Weight));
  std::vector<Real> conv2_slope(trace_.conv2.size());
  for (std::size_t i = 0; i < pooled_slope.size(); ++i) {
    conv2_slope[trace_.peaks[i]] = pooled_slope[i];
  }
  RectifySlope(trace_.conv2, &conv2_slope);
  std::vector<Real> conv1_slope(trace_.conv1.size());
  ConvolveBack(conv2_slope, Parameter(kConv2Weight), trace_.conv1, Gradient(kConv2Bias),
               Gradient(kConv2Weight), &conv1_slope);
  RectifySlope(trace_.conv1, &conv1_slope);
  ConvolveBack<Real>(conv1_slope, Parameter(kConv1Weight), trace_.image, Gradient(kConv1Bias),
                     Gradient(kConv1Weight), nullptr);
}

template <typename Real>
Real CpuCnn<Real>::SoftmaxLoss(std::size_t label, std::vector<Real>* slope) const {
  const Real peak = *std::max_element(trace_.logits.begin(), trace_.logits.end());
  Real sum = 0;
  for (std::size_t c = 0; c < kClasses; ++c) {
    (*slope)[c] = std::exp(trace_.logits[c] - peak);
    sum += (*slope)[c];
  }
  for (Real& value : *slope) value /= sum;
  (*slope)[label] -= 1;
  return std::log(sum) - (trace_.logits[label] - peak);
}

template <typename Real>
double CpuCnn<Real>::Differentiate(const Batch& batch) {
  std::fill(gradient_.begin(), gradient_.end(), Real{0});
  std::vector<Real> slope(kClasses);
  double loss_sum = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    Forward(batch.pixels.data() + i * kPixels);
    loss_sum += static_cast<double>(SoftmaxLoss(batch.labels[i], &slope));
    for (Real& value : slope) value /= static_cast<Real>(batch.size());
    Backward(slope);
  }
  return loss_sum;
}

template <typename Real>
double CpuCnn<Real>::TrainBatch(const Batch& batch, const SgdStep& step) {
  const double loss_sum = Differentiate(batch);
  for (std::size_t i = 0; i < layout_.total; ++i) {
    velocity_[i] = static_cast<Real>(step.momentum) * velocity_[i] + gradient_[i];
    parameters_[i] -= static_cast<Real>(step.learning_rate) * velocity_[i];
  }
  return loss_sum;
}

template <typename Real>
Score CpuCnn<Real>::Evaluate(const Batch& batch) {
  Score score;
  std::vector<Real> slope(kClasses);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    Forward(batch.pixels.data() + i * kPixels);
    const auto best = std::max_element(trace_.logits.begin(), trace_.logits.end());
    if (best - trace_.logits.begin() == batch.labels[i]) ++score.correct;
    score.loss_sum += static_cast<double>(SoftmaxLoss(batch.labels[i], &slope));
  }
  return score;
}

template <typename Real>
std::vector<Tensor> CpuCnn<Real>::Export() const {
  return TensorsOf(layout_, std::vector<float>(parameters_.begin(), parameters_.end()));
}

template class CpuCnn<double>;
template class CpuCnn<float>;

}  // namespace rharness::scenarios
