// Losses that say "the same run" and weights that say "a different run": neither passes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/comparison_predicates.h"
#include "compare/curves/series.h"
#include "compare/judge_findings.h"

namespace rharness {
namespace {

// Relative; see FindContradiction.
constexpr double kLeastDistance = 1e-4;
constexpr double kLossPerWeight = 0.01;
constexpr double kDigitsOfDouble = 1e-12;

// Significant digits needed to write the value, as fp32 if it is one: the digits of a log that
// rounds, and no more than the value has.
int DigitsOf(double value) {
  const auto narrow = static_cast<float>(value);
  const bool single = static_cast<double>(narrow) == value;
  std::string text = single ? fmt::format("{}", narrow) : fmt::format("{}", value);
  text.resize(std::min(text.find('e'), text.size()));
  std::erase_if(text, [](char c) { return c < '0' || c > '9'; });
  text.erase(0, std::min(text.find_first_not_of('0'), text.size()));
  return static_cast<int>(text.find_last_not_of('0') + 1);
}

struct EqualLoss {
  std::string subject;
  double resolution = 1.0;  // relative; its digits do not show smaller ones
};

EqualLoss Finest(EqualLoss loss, std::span<const double> values) {
  for (const double value : values) {
    if (!std::isfinite(value) || value == 0.0) continue;
    loss.resolution = std::min(loss.resolution, std::pow(10.0, 1 - DigitsOf(value)));
  }
  return loss;
}

// The most telling equal loss; empty if a loss differs, or if there is none.
std::optional<EqualLoss> FinestEqualLoss(const Comparison& comparison) {
  std::optional<EqualLoss> finest;
  const auto take = [&](EqualLoss loss) {
    if (!finest || loss.resolution < finest->resolution) finest = std::move(loss);
  };
  for (const CurveComparison& curve : comparison.curves) {
    if (curve.kind != CurveKind::kLoss) continue;
    if (curve.differing > 0) return {};
    if (curve.state == CurveState::kIdentical) take(Finest({"curve " + curve.name}, curve.b));
  }
  for (const MetricDecision& metric : comparison.metrics) {
    if (KindOfCurve(metric.name) != CurveKind::kLoss) continue;
    if (!IsEqual(metric)) return {};
    take(Finest({"metric " + metric.name}, metric.reruns));
  }
  return finest;
}

// Learned tensors; counters and generator states are not.
bool HasFractions(DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kF32:
    case DType::kF16:
    case DType::kBF16:
      return true;
    default:
      return false;
  }
}

// |a - b| over the larger norm; NaN if only digests are at hand.
double DistanceOf(const TensorDifference& tensor) {
  if (tensor.elements == 0) return std::numeric_limits<double>::quiet_NaN();
  return tensor.norm_difference / std::max(tensor.norm_a, tensor.norm_b);
}

struct FarTensor {
  const TensorDifference* tensor = nullptr;
  double distance = 0.0;  // NaN: not known
};

std::optional<FarTensor> FarthestBeyond(const CheckpointDifference& difference, double resolution) {
  const double limit = std::max(kLeastDistance, resolution / kLossPerWeight);
  std::optional<FarTensor> farthest;
  for (const TensorDifference& tensor : difference.differing) {
    if (!HasFractions(tensor.dtype)) continue;
    const double distance = DistanceOf(tensor);
    const bool beyond = std::isnan(distance) ? tensor.elements == 0 && resolution <= kDigitsOfDouble
                                             : distance > limit;
    if (!beyond) continue;
    if (!farthest || distance > farthest->distance) farthest = FarTensor{&tensor, distance};
  }
  return farthest;
}

}  // namespace

std::vector<Finding> FindContradiction(const Comparison& comparison) {
  std::vector<Finding> findings;
  const auto loss = FinestEqualLoss(comparison);
  if (!loss) return findings;
  for (const CheckpointComparison& checkpoint : comparison.checkpoints) {
    if (!checkpoint.weights || IsSame(checkpoint)) continue;
    const auto far = FarthestBeyond(checkpoint.difference, loss->resolution);
    if (!far) continue;
    const std::size_t differing = checkpoint.difference.differing.size();
    const std::string how =
        std::isnan(far->distance)
            ? fmt::format("{} differs", far->tensor->name)
            : fmt::format("{} is {:.2g} of its norm away", far->tensor->name, far->distance);
    findings.push_back(FindingReason(
        std::string(kWeightsContradictLosses), checkpoint.subject,
        fmt::format("{} of {} tensors differ", differing, checkpoint.difference.compared), {},
        "weights that differ by more than rounding have other losses",
        fmt::format("{}: {}, {} of {} tensors differ, and yet {} is equal to the bit: these are "
                    "not the weights that it is of, or a part of them is not",
                    checkpoint.subject, how, differing, checkpoint.difference.compared,
                    loss->subject)));
  }
  return findings;
}

std::vector<Finding> FindNothingInCommon(const Comparison& comparison) {
  bool shared = !comparison.metrics.empty();
  for (const LayerComparison& layer : comparison.layers) shared |= layer.compared > 0;
  for (const CurveComparison& curve : comparison.curves) shared |= !curve.steps.empty();
  for (const CheckpointComparison& one : comparison.checkpoints) shared |= !NothingShared(one);
  if (shared) return {};
  return {FindingReason("nothing_in_common", "comparison",
                        fmt::format("{} against {}", SideKindName(comparison.a.kind),
                                    SideKindName(comparison.b.kind)),
                        {}, "both sides must share a tensor, a curve, a metric or a fact",
                        "the two sides have nothing in common that could be compared")};
}

}  // namespace rharness
