// Holds one network's first step to another's: the check of gradients that a GPU program can make
// of itself wherever it runs.
#ifndef RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_AGREEMENT_H_
#define RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_AGREEMENT_H_

#include <memory>
#include <string>
#include <vector>

#include "scenarios/common/network.h"

namespace rharness::scenarios {

// How far two networks moved from each other in one step, tensor by tensor.
struct Disagreement {
  std::string tensor;
  // The largest difference of the two movements over the largest movement of the reference;
  // infinite when the reference did not move or a value is not finite.
  double error = 0;
};

// `before` and the two after: the same tensors in the same order.
std::vector<Disagreement> CompareSteps(const std::vector<Tensor>& before,
                                       const std::vector<Tensor>& tested,
                                       const std::vector<Tensor>& reference);

// Trains `tested` and is it in every respect; the first batch trains `reference`, too, and
// CompareSteps goes to *result, which must outlive this. Both start from equal parameters.
class HeldNetwork : public Network {
 public:
  HeldNetwork(std::unique_ptr<Network> tested, std::unique_ptr<Network> reference,
              std::vector<Disagreement>* result);
  double TrainBatch(const Batch& batch, const SgdStep& step) override;
  Score Evaluate(const Batch& batch) override { return tested_->Evaluate(batch); }
  std::vector<Tensor> Export() const override { return tested_->Export(); }
  std::map<std::string, std::string> Software() const override { return tested_->Software(); }
  std::map<std::string, double> Resources() const override { return tested_->Resources(); }

 private:
  std::unique_ptr<Network> tested_;
  std::unique_ptr<Network> reference_;  // null after the first batch
  std::vector<Disagreement>* result_;
};

}  // namespace rharness::scenarios

#endif  // RHARNESS_SCENARIOS_DIGITS_CNN_CUDA_AGREEMENT_H_
