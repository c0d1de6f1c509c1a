// The network in plain loops: float32 operations in an order that is written down, the same bits on
// every x86-64 machine and at every optimisation level.
#ifndef RHARNESS_SCENARIOS_DIGITS_PORTABLE_PORTABLE_MLP_H_
#define RHARNESS_SCENARIOS_DIGITS_PORTABLE_PORTABLE_MLP_H_

#include <array>
#include <cstddef>
#include <vector>

#include "scenarios/common/network.h"

namespace rharness::scenarios {

// Sums run over inputs in ascending order, gradients over the images of a batch in ascending order.
// Layers and gradients are float, the softmax and the loss of one image are double.
class PortableMlp : public Network {
 public:
  explicit PortableMlp(const Parameters& initial);
  double TrainBatch(const Batch& batch, const SgdStep& step) override;
  Score Evaluate(const Batch& batch) override;
  std::vector<Tensor> Export() const override;

 private:
  using Logits = std::array<float, kClasses>;

  // A parameter array, its gradient and its velocity.
  struct Layer {
    std::vector<float> value;
    std::vector<float> gradient;
    std::vector<float> velocity;
  };
  static Layer MakeLayer(std::vector<float> value);
  static void Step(const SgdStep& step, float scale, Layer* layer);

  Logits Forward(const float* image);
  void Backward(const float* image, const Logits& slope);

  std::size_t hidden_;
  Layer weight1_;  // [kPixels, hidden]: transposed, so that the inner loops have no reduction
  Layer bias1_;
  Layer weight2_;  // [hidden, kClasses], transposed
  Layer bias2_;
  std::vector<float> activation_;
  std::vector<float> activation_slope_;
};

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_DIGITS_PORTABLE_PORTABLE_MLP_H_
