// The network as matrix products: Eigen expressions whose products are calls of OpenBLAS sgemm.
// Its bits depend on the kernel that OpenBLAS picks for the CPU it runs on.
#ifndef RHARNESS_SCENARIOS_DIGITS_BLAS_BLAS_MLP_H_
#define RHARNESS_SCENARIOS_DIGITS_BLAS_BLAS_MLP_H_

// Large products become sgemm calls; without it Eigen would run kernels of its own.
#define EIGEN_USE_BLAS
#include <Eigen/Core>

#include "scenarios/common/network.h"

namespace rharness::scenarios {

class BlasMlp : public Network {
 public:
  explicit BlasMlp(const Parameters& initial);
  double TrainBatch(const Batch& batch, const SgdStep& step) override;
  Score Evaluate(const Batch& batch) override;
  std::vector<Tensor> Export() const override;
  std::map<std::string, std::string> Software() const override;

 private:
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Images = Eigen::Map<const Matrix>;  // [images, kPixels]

  struct Layer {
    Matrix value;
    Matrix velocity;
  };
  static Layer MakeLayer(const std::vector<float>& value, std::size_t rows);
  static Images ImagesOf(const Batch& batch);
  static void Step(const SgdStep& step, const Matrix& gradient, Layer* layer);

  // Leaves the hidden layer in activation_ and returns the logits [images, kClasses].
  Matrix Forward(const Images& images);
  // The summed cross-entropy; `logits` becomes softmax - one_hot.
  static double SoftmaxLoss(const Batch& batch, Matrix* logits);

  Layer weight1_;  // [hidden, kPixels]
  Layer bias1_;    // [1, hidden]
  Layer weight2_;  // [kClasses, hidden]
  Layer bias2_;    // [1, kClasses]
  Matrix activation_;
};

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_DIGITS_BLAS_BLAS_MLP_H_
