// The network as plain loops over one image at a time: what the GPU's path is held to, and what
// runs where there is no GPU.
#ifndef RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_CPU_CNN_H_
#define RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_CPU_CNN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scenarios/digits_cnn_cuda/cnn.h"

namespace rharness::scenarios {

// Real is double or float: parameters, activations and sums alike. exp and log are the C library's.
template <typename Real>
class CpuCnn : public Network {
 public:
  // `initial` holds LayoutOf(shape).total values.
  CpuCnn(const CnnShape& shape, const std::vector<float>& initial);

  double TrainBatch(const Batch& batch, const SgdStep& step) override;
  Score Evaluate(const Batch& batch) override;
  // Rounded to float.
  std::vector<Tensor> Export() const override;

  // Leaves the gradient of the mean loss of the batch in gradient(); returns the summed loss.
  double Differentiate(const Batch& batch);
  const std::vector<Real>& gradient() const { return gradient_; }
  std::vector<Real>& parameters() { return parameters_; }

 private:
  // What one image leaves on its way through; a slope is the derivative of its loss.
  struct Trace {
    std::vector<Real> image;         // [kArea]
    std::vector<Real> conv1;         // [channels1, kArea], after ReLU; so are the next ones
    std::vector<Real> conv2;         // [channels2, kArea]
    std::vector<std::size_t> peaks;  // [features], index into conv2 of the largest of each 2x2
    std::vector<Real> pooled;        // [features]
    std::vector<Real> hidden;        // [hidden]
    std::vector<Real> logits;        // [kClasses]
  };

  const Real* Parameter(CnnTensor tensor) const;
  Real* Gradient(CnnTensor tensor);
  void Forward(const float* image);
  void Pool();
  // Adds the gradient of one image, given the slope of its logits.
  void Backward(const std::vector<Real>& logit_slope);
  // The cross-entropy; `slope` becomes softmax(logits) - one_hot(label).
  Real SoftmaxLoss(std::size_t label, std::vector<Real>* slope) const;

  CnnShape shape_;
  CnnLayout layout_;
  std::vector<Real> parameters_;
  std::vector<Real> gradient_;
  std::vector<Real> velocity_;
  Trace trace_;
};

extern template class CpuCnn<double>;
extern template class CpuCnn<float>;

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_CPU_CNN_H_
