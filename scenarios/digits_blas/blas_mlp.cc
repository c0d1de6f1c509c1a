// Forward, backward and step over whole batches.
#include "scenarios/digits_blas/blas_mlp.h"

#include <cblas.h>

#include <cmath>

namespace rharness::scenarios {
namespace {

Eigen::Index Signed(std::size_t count) { return static_cast<Eigen::Index>(count); }

template <typename Matrix>
std::vector<float> Flat(const Matrix& matrix) {
  return std::vector<float>(matrix.data(), matrix.data() + matrix.size());
}

}  // namespace

BlasMlp::Layer BlasMlp::MakeLayer(const std::vector<float>& value, std::size_t rows) {
  const Matrix matrix = Images(value.data(), Signed(rows), Signed(value.size() / rows));
  return Layer{matrix, Matrix::Zero(matrix.rows(), matrix.cols())};
}

BlasMlp::Images BlasMlp::ImagesOf(const Batch& batch) {
  return Images(batch.pixels.data(), Signed(batch.size()), Signed(kPixels));
}

BlasMlp::BlasMlp(const Parameters& initial)
    : weight1_(MakeLayer(initial.fc1_weight, initial.hidden)),
      bias1_(MakeLayer(initial.fc1_bias, 1)),
      weight2_(MakeLayer(initial.fc2_weight, kClasses)),
      bias2_(MakeLayer(initial.fc2_bias, 1)) {}

BlasMlp::Matrix BlasMlp::Forward(const Images& images) {
  activation_.noalias() = images * weight1_.value.transpose();
  activation_.rowwise() += bias1_.value.row(0);
  activation_ = activation_.cwiseMax(0.0f);
  Matrix logits = activation_ * weight2_.value.transpose();
  logits.rowwise() += bias2_.value.row(0);
  return logits;
}

double BlasMlp::SoftmaxLoss(const Batch& batch, Matrix* logits) {
  double loss_sum = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    auto row = logits->row(Signed(i));
    row.array() -= row.maxCoeff();
    const Eigen::Index label = batch.labels[i];
    double sum = 0;
    for (const float logit : row) sum += std::exp(static_cast<double>(logit));
    loss_sum += std::log(sum) - static_cast<double>(row(label));
    for (float& logit : row) {
      logit = static_cast<float>(std::exp(static_cast<double>(logit)) / sum);
    }
    row(label) -= 1.0f;
  }
  return loss_sum;
}

void BlasMlp::Step(const SgdStep& step, const Matrix& gradient, Layer* layer) {
  layer->velocity = step.momentum * layer->velocity + gradient;
  layer->value -= step.learning_rate * layer->velocity;
}

double BlasMlp::TrainBatch(const Batch& batch, const SgdStep& step) {
  const Images images = ImagesOf(batch);
  Matrix slope = Forward(images);
  const double loss_sum = SoftmaxLoss(batch, &slope);
  slope /= static_cast<float>(batch.size());
  Matrix hidden_slope = slope * weight2_.value;
  hidden_slope = (activation_.array() > 0.0f).select(hidden_slope, 0.0f);
  Step(step, slope.transpose() * activation_, &weight2_);
  Step(step, slope.colwise().sum(), &bias2_);
  Step(step, hidden_slope.transpose() * images, &weight1_);
  Step(step, hidden_slope.colwise().sum(), &bias1_);
  return loss_sum;
}

Score BlasMlp::Evaluate(const Batch& batch) {
  Matrix logits = Forward(ImagesOf(batch));
  Score score;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    Eigen::Index best = 0;
    logits.row(Signed(i)).maxCoeff(&best);
    if (best == batch.labels[i]) ++score.correct;
  }
  score.loss_sum = SoftmaxLoss(batch, &logits);
  return score;
}

std::vector<Tensor> BlasMlp::Export() const {
  return TensorsOf(Parameters{static_cast<std::size_t>(weight1_.value.rows()), Flat(weight1_.value),
                              Flat(bias1_.value), Flat(weight2_.value), Flat(bias2_.value)});
}

std::map<std::string, std::string> BlasMlp::Software() const {
  return {{"openblas", openblas_get_config()}, {"openblas_core", openblas_get_corename()}};
}

}  // namespace rharness::scenarios
