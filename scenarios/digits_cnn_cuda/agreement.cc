// The comparison of two first steps.
#include "scenarios/digits_cnn_cuda/agreement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace rharness::scenarios {
namespace {

double ErrorOf(const std::vector<float>& before, const std::vector<float>& tested,
               const std::vector<float>& reference) {
  double difference = 0;
  double movement = 0;
  bool finite = true;
  for (std::size_t i = 0; i < before.size(); ++i) {
    finite = finite && std::isfinite(tested[i]) && std::isfinite(reference[i]);
    difference = std::max(difference, std::abs(static_cast<double>(tested[i]) - reference[i]));
    movement = std::max(movement, std::abs(static_cast<double>(reference[i]) - before[i]));
  }
  if (!finite || movement == 0) return std::numeric_limits<double>::infinity();
  return difference / movement;
}

}  // namespace

std::vector<Disagreement> CompareSteps(const std::vector<Tensor>& before,
                                       const std::vector<Tensor>& tested,
                                       const std::vector<Tensor>& reference) {
  std::vector<Disagreement> all;
  for (std::size_t i = 0; i < before.size(); ++i) {
    all.push_back(
        {before[i].name, ErrorOf(before[i].values, tested[i].values, reference[i].values)});
  }
  return all;
}

HeldNetwork::HeldNetwork(std::unique_ptr<Network> tested, std::unique_ptr<Network> reference,
                         std::vector<Disagreement>* result)
    : tested_(std::move(tested)), reference_(std::move(reference)), result_(result) {}

double HeldNetwork::TrainBatch(const Batch& batch, const SgdStep& step) {
  if (reference_ == nullptr) return tested_->TrainBatch(batch, step);
  const std::vector<Tensor> before = reference_->Export();
  const double loss_sum = tested_->TrainBatch(batch, step);
  reference_->TrainBatch(batch, step);
  *result_ = CompareSteps(before, tested_->Export(), reference_->Export());
  reference_.reset();
  return loss_sum;
}

}  // namespace rharness::scenarios
