// libcudnn's older pooling, softmax and CTC loss.
//
// Statuses: cuDNN API reference. What is documented to vary does: in each call the gradient of
// max pooling begins with a different window, and CTC loss with a different place of a letter.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/gpu/emulator/libraries/cudnn_handle.h"
#include "tests/gpu/emulator/libraries/cudnn_legacy.h"
#include "tests/gpu/emulator/libraries/machine.h"

namespace rharness {
namespace {

bool IsPlain(const void* alpha, const void* beta) {
  return *static_cast<const float*>(alpha) == 1.0F && *static_cast<const float*>(beta) == 0.0F;
}

// A dense fp32 tensor in device memory; empty after a fault.
std::vector<float> Floats(cudnnTensorDescriptor_t tensor, const void* at, int device) {
  const std::uint64_t bytes = BytesOfTensor(*tensor);
  const std::byte* from = ReadFrom(at, bytes, sizeof(float), device, "cuDNN: an input");
  if (from == nullptr) return {};
  std::vector<float> values(bytes / sizeof(float));
  std::memcpy(values.data(), from, bytes);
  return values;
}
void Give(const std::vector<float>& values, void* at, int device) {
  const std::uint64_t bytes = values.size() * sizeof(float);
  std::byte* to = WriteTo(at, bytes, sizeof(float), device, "cuDNN: a result");
  if (to != nullptr) std::memcpy(to, values.data(), bytes);
}

bool AreFloats(std::initializer_list<cudnnTensorDescriptor_t> tensors, std::size_t dims) {
  return std::ranges::all_of(tensors, [&](cudnnTensorDescriptor_t one) {
    return IsLiving(one) && one->dims.size() == dims && one->element == Element::kF32;
  });
}

// For every window, the element that is its maximum: the first in its rows.
std::vector<std::size_t> Maxima(const cudnnPoolingStruct& pooling, const cudnnTensorStruct& x,
                                const std::vector<float>& values) {
  const std::int64_t planes = x.dims[0] * x.dims[1], h = x.dims[2], w = x.dims[3];
  std::vector<std::size_t> maxima;
  maxima.reserve(values.size());
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    for (std::int64_t row = 0; row < h; ++row) {
      for (std::int64_t column = 0; column < w; ++column) {
        std::size_t best = values.size();
        const std::int64_t top = row - pooling.padding, left = column - pooling.padding;
        for (std::int64_t r = std::max<std::int64_t>(0, top); r < std::min(h, top + pooling.window);
             ++r) {
          for (std::int64_t s = std::max<std::int64_t>(0, left);
               s < std::min(w, left + pooling.window); ++s) {
            const auto at = static_cast<std::size_t>((plane * h + r) * w + s);
            if (best == values.size() || values[at] > values[best]) best = at;
          }
        }
        maxima.push_back(best);
      }
    }
  }
  return maxima;
}

// Windows that move by one and keep the size, since no other is asked.
bool KeepsSize(const cudnnPoolingStruct& pooling) {
  return pooling.stride == 1 && pooling.window == 2 * pooling.padding + 1;
}

float LogAdd(float a, float b) {
  const float most = std::max(a, b);
  if (most == -std::numeric_limits<float>::infinity()) return most;
  return most + std::log1p(std::exp(std::min(a, b) - most));
}

// One sequence: scores of steps by letters, its labels; blank is letter 0. Source: Graves,
// Fernandez, Gomez, Schmidhuber, "Connectionist Temporal Classification", ICML 2006, section 4.
class CtcSequence {
 public:
  CtcSequence(std::vector<std::vector<float>> logs, const std::vector<int>& labels)
      : logs_(std::move(logs)) {
    places_.push_back(0);
    for (const int label : labels) places_.insert(places_.end(), {label, 0});
  }
  // The loss; gradients of the scores before their softmax are added from place `first` on.
  float Solve(std::size_t first, std::vector<std::vector<float>>* gradients) const {
    const std::size_t steps = logs_.size(), places = places_.size();
    const float nothing = -std::numeric_limits<float>::infinity();
    std::vector<std::vector<float>> before(steps, std::vector<float>(places, nothing));
    auto after = before;
    for (std::size_t t = 0; t < steps; ++t) {
      for (std::size_t s = 0; s < places; ++s) {
        float sum = t == 0 ? (s < 2 ? 0.0F : nothing) : before[t - 1][s];
        if (t > 0 && s > 0) sum = LogAdd(sum, before[t - 1][s - 1]);
        if (t > 0 && Skips(s)) sum = LogAdd(sum, before[t - 1][s - 2]);
        before[t][s] = sum + Log(t, s);
      }
    }
    for (std::size_t t = steps; t-- > 0;) {
      for (std::size_t s = places; s-- > 0;) {
        const bool last = t + 1 == steps;
        float sum = last ? (s + 2 >= places ? 0.0F : nothing) : after[t + 1][s] + Log(t + 1, s);
        if (!last && s + 1 < places) sum = LogAdd(sum, after[t + 1][s + 1] + Log(t + 1, s + 1));
        if (!last && s + 2 < places && Skips(s + 2)) {
          sum = LogAdd(sum, after[t + 1][s + 2] + Log(t + 1, s + 2));
        }
        after[t][s] = sum;
      }
    }
    const float total = LogAdd(before[steps - 1][places - 1], before[steps - 1][places - 2]);
    for (std::size_t t = 0; t < steps; ++t) {
      for (std::size_t letter = 0; letter < logs_[t].size(); ++letter) {
        (*gradients)[t][letter] = std::exp(logs_[t][letter]);
      }
      for (std::size_t i = 0; i < places; ++i) {
        const std::size_t s = (first + i) % places;
        (*gradients)[t][static_cast<std::size_t>(places_[s])] -=
            std::exp(before[t][s] + after[t][s] - total);
      }
    }
    return -total;
  }

 private:
  float Log(std::size_t t, std::size_t s) const {
    return logs_[t][static_cast<std::size_t>(places_[s])];
  }
  bool Skips(std::size_t s) const {
    return s >= 2 && places_[s] != 0 && places_[s] != places_[s - 2];
  }
  std::vector<std::vector<float>> logs_;
  std::vector<int> places_;  // labels with blanks between
};

std::vector<float> LogSoftmax(const float* scores, std::size_t count) {
  const float most = *std::max_element(scores, scores + count);
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += std::exp(scores[i] - most);
  std::vector<float> logs(count);
  for (std::size_t i = 0; i < count; ++i) logs[i] = scores[i] - most - std::log(sum);
  return logs;
}

std::size_t CtcWorkspace(const cudnnTensorStruct& scores) { return BytesOfTensor(scores); }

}  // namespace
}  // namespace rharness

using rharness::IsLiving;

extern "C" {
cudnnStatus_t cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t pooling, cudnnPoolingMode_t mode,
                                          cudnnNanPropagation_t, int height, int width, int pad_h,
                                          int pad_w, int stride_h, int stride_w) {
  ENTER(cudnnSetPooling2dDescriptor);
  if (!IsLiving(pooling) || height < 1 || width < 1 || pad_h < 0 || pad_w < 0 || stride_h < 1 ||
      stride_w < 1 || mode < CUDNN_POOLING_MAX || mode > CUDNN_POOLING_MAX_DETERMINISTIC) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  *pooling = {mode, height, pad_h, stride_h};
  const bool square = height == width && pad_h == pad_w && stride_h == stride_w;
  return square && rharness::KeepsSize(*pooling) ? CUDNN_STATUS_SUCCESS
                                                 : CUDNN_STATUS_NOT_SUPPORTED;
}
cudnnStatus_t cudnnPoolingForward(cudnnHandle_t handle, cudnnPoolingDescriptor_t pooling,
                                  const void* alpha, cudnnTensorDescriptor_t x_desc, const void* x,
                                  const void* beta, cudnnTensorDescriptor_t y_desc, void* y) {
  ENTER_WITH_DEVICE(cudnnPoolingForward);
  NEED_HANDLE(handle);
  if (!IsLiving(pooling) || !rharness::AreFloats({x_desc, y_desc}, 4) || alpha == nullptr ||
      beta == nullptr || x_desc->dims != y_desc->dims) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (!rharness::IsPlain(alpha, beta)) return CUDNN_STATUS_NOT_SUPPORTED;
  const std::vector<float> values = rharness::Floats(x_desc, x, handle->device);
  if (values.empty()) return CUDNN_STATUS_SUCCESS;
  std::vector<float> result;
  for (const std::size_t at : rharness::Maxima(*pooling, *x_desc, values))
    result.push_back(values[at]);
  rharness::Give(result, y, handle->device);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnPoolingBackward(cudnnHandle_t handle, cudnnPoolingDescriptor_t pooling,
                                   const void* alpha, cudnnTensorDescriptor_t y_desc, const void* y,
                                   cudnnTensorDescriptor_t dy_desc, const void* dy,
                                   cudnnTensorDescriptor_t x_desc, const void* x, const void* beta,
                                   cudnnTensorDescriptor_t dx_desc, void* dx) {
  ENTER_WITH_DEVICE(cudnnPoolingBackward);
  NEED_HANDLE(handle);
  if (!IsLiving(pooling) || !rharness::AreFloats({x_desc, y_desc, dx_desc, dy_desc}, 4) ||
      alpha == nullptr || beta == nullptr || x_desc->dims != dx_desc->dims ||
      y_desc->dims != dy_desc->dims || x_desc->dims != y_desc->dims) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (!rharness::IsPlain(alpha, beta)) return CUDNN_STATUS_NOT_SUPPORTED;
  const std::vector<float> values = rharness::Floats(x_desc, x, handle->device);
  const std::vector<float> given = rharness::Floats(dy_desc, dy, handle->device);
  const std::vector<float> pooled = rharness::Floats(y_desc, y, handle->device);
  if (values.empty() || given.empty() || pooled.empty()) return CUDNN_STATUS_SUCCESS;
  const auto maxima = rharness::Maxima(*pooling, *x_desc, values);
  const bool varies = pooling->mode == CUDNN_POOLING_MAX;
  const std::size_t first = varies ? 1009 * ++handle->calls : 0;
  std::vector<float> result(values.size(), 0.0F);
  for (std::size_t i = 0; i < maxima.size(); ++i) {
    const std::size_t window = (first + i) % maxima.size();
    result[maxima[window]] += given[window];
  }
  rharness::Give(result, dx, handle->device);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm,
                                  cudnnSoftmaxMode_t mode, const void* alpha,
                                  cudnnTensorDescriptor_t x_desc, const void* x, const void* beta,
                                  cudnnTensorDescriptor_t y_desc, void* y) {
  ENTER_WITH_DEVICE(cudnnSoftmaxForward);
  NEED_HANDLE(handle);
  if (!rharness::AreFloats({x_desc, y_desc}, 4) || alpha == nullptr || beta == nullptr ||
      x_desc->dims != y_desc->dims || algorithm < CUDNN_SOFTMAX_FAST ||
      algorithm > CUDNN_SOFTMAX_LOG) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (mode != CUDNN_SOFTMAX_MODE_INSTANCE || !rharness::IsPlain(alpha, beta)) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  const std::vector<float> values = rharness::Floats(x_desc, x, handle->device);
  if (values.empty()) return CUDNN_STATUS_SUCCESS;
  const std::size_t rows = static_cast<std::size_t>(x_desc->dims[0]);
  const std::size_t columns = values.size() / rows;
  std::vector<float> result;
  for (std::size_t row = 0; row < rows; ++row) {
    for (const float log : rharness::LogSoftmax(values.data() + row * columns, columns)) {
      result.push_back(algorithm == CUDNN_SOFTMAX_LOG ? log : std::exp(log));
    }
  }
  rharness::Give(result, y, handle->device);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetCTCLossDescriptorEx(cudnnCTCLossDescriptor_t loss, cudnnDataType_t type,
                                          cudnnLossNormalizationMode_t mode,
                                          cudnnNanPropagation_t) {
  ENTER(cudnnSetCTCLossDescriptorEx);
  if (!IsLiving(loss) || type != CUDNN_DATA_FLOAT) return CUDNN_STATUS_BAD_PARAM;
  if (mode != CUDNN_LOSS_NORMALIZATION_SOFTMAX) return CUDNN_STATUS_NOT_SUPPORTED;
  loss->set = true;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetCTCLossWorkspaceSize(cudnnHandle_t handle, cudnnTensorDescriptor_t scores,
                                           cudnnTensorDescriptor_t gradients, const int* labels,
                                           const int* lengths, const int* steps, cudnnCTCLossAlgo_t,
                                           cudnnCTCLossDescriptor_t loss, std::size_t* bytes) {
  ENTER(cudnnGetCTCLossWorkspaceSize);
  NEED_HANDLE(handle);
  if (!rharness::AreFloats({scores, gradients}, 3) || labels == nullptr || lengths == nullptr ||
      steps == nullptr || bytes == nullptr || !IsLiving(loss)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  *bytes = rharness::CtcWorkspace(*scores);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCTCLoss(cudnnHandle_t handle, cudnnTensorDescriptor_t scores_desc,
                           const void* scores, const int labels[], const int lengths[],
                           const int steps[], void* costs, cudnnTensorDescriptor_t gradients_desc,
                           void* gradients, cudnnCTCLossAlgo_t algorithm,
                           cudnnCTCLossDescriptor_t loss, void* workspace, std::size_t bytes) {
  ENTER_WITH_DEVICE(cudnnCTCLoss);
  NEED_HANDLE(handle);
  if (!rharness::AreFloats({scores_desc, gradients_desc}, 3) || !IsLiving(loss) || !loss->set ||
      scores_desc->dims != gradients_desc->dims || labels == nullptr || lengths == nullptr ||
      steps == nullptr || bytes < rharness::CtcWorkspace(*scores_desc)) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  const auto& dims = scores_desc->dims;
  const auto sequences = static_cast<std::size_t>(dims[1]);
  const auto letters = static_cast<std::size_t>(dims[2]);
  const std::vector<float> all = rharness::Floats(scores_desc, scores, handle->device);
  if (all.empty() || !rharness::IsOnDevice(workspace, bytes, handle->device)) {
    rharness::TheMachine().Fault("cudnnCTCLoss: an operand is no memory of the device");
    return CUDNN_STATUS_SUCCESS;
  }
  const bool varies = algorithm == CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC;
  const std::size_t first = varies ? ++handle->calls : 0;
  std::vector<float> losses, result(all.size(), 0.0F);
  const int* label = labels;
  for (std::size_t one = 0; one < sequences; ++one) {
    if (steps[one] < 1 || steps[one] > dims[0] || lengths[one] < 1) return CUDNN_STATUS_BAD_PARAM;
    std::vector<std::vector<float>> logs;
    for (int t = 0; t < steps[one]; ++t) {
      const std::size_t at = (static_cast<std::size_t>(t) * sequences + one) * letters;
      logs.push_back(rharness::LogSoftmax(all.data() + at, letters));
    }
    std::vector<std::vector<float>> made(logs.size(), std::vector<float>(letters));
    const rharness::CtcSequence sequence(std::move(logs), {label, label + lengths[one]});
    losses.push_back(sequence.Solve(first, &made));
    label += lengths[one];
    for (std::size_t t = 0; t < made.size(); ++t) {
      std::ranges::copy(
          made[t], result.begin() + static_cast<std::ptrdiff_t>((t * sequences + one) * letters));
    }
  }
  rharness::Give(losses, costs, handle->device);
  rharness::Give(result, gradients, handle->device);
  return CUDNN_STATUS_SUCCESS;
}
}
