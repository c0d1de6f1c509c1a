// A comparison as a list of things compared bit for bit; see exact.h.
#include "compare/exact.h"

#include <fmt/format.h>

#include <algorithm>

#include "compare/comparison_predicates.h"
#include "compare/describe_checkpoint.h"

namespace rharness {
namespace {

using State = ExactComparison::State;

std::string FirstOf(const CheckpointDifference& difference) {
  if (!difference.differing.empty()) return difference.differing.front().name;
  for (const auto* names : {&difference.shape_or_dtype, &difference.only_a, &difference.only_b}) {
    if (!names->empty()) return names->front();
  }
  return {};
}

ExactComparison Exact(const CheckpointComparison& checkpoint) {
  ExactComparison exact{.subject = checkpoint.subject,
                        .state = State::kEqual,
                        .compared_by = HowCompared(checkpoint)};
  const CheckpointDifference& difference = checkpoint.difference;
  if (checkpoint.is_file) {
    if (!IsSame(checkpoint)) exact.state = State::kDiffers;
    exact.detail = DescribeFile(checkpoint);
  } else if (IsVacuous(difference)) {
    exact.state = State::kVacuous;
    exact.detail = "neither checkpoint holds a tensor: it shows nothing";
  } else if (IsSame(checkpoint)) {
    exact.detail = difference.compared == 0
                       ? "equal by its digest"
                       : fmt::format("{} tensors equal bit for bit", difference.compared);
  } else {
    exact.state = State::kDiffers;
    exact.detail = DescribeBits(checkpoint);
    const std::string first = FirstOf(difference);
    if (!first.empty()) exact.first_difference = "tensor " + first;
    if (!difference.differing.empty() && difference.differing.front().elements > 0) {
      exact.tensor = std::make_shared<TensorDifference>(difference.differing.front());
    }
  }
  return exact;
}

ExactComparison Exact(const CurveComparison& curve) {
  ExactComparison exact{
      .subject = "curve " + curve.name, .state = State::kEqual, .compared_by = ComparedBy::kValues};
  const std::size_t points = curve.steps.size();
  if (curve.state == CurveState::kMissing) {
    exact.state = State::kMissing;
    exact.compared_by = ComparedBy::kNothing;
    exact.detail = curve.message;
  } else if (curve.differing > 0) {
    exact.state = State::kDiffers;
    if (curve.first_difference) {
      exact.first_difference = fmt::format("step {}", *curve.first_difference);
    }
    exact.detail = fmt::format("{} of {} points differ, by {:.2g} relative at most",
                               curve.differing, points, curve.max_rel);
  } else if (curve.MissesSteps()) {
    exact.state = State::kDiffers;
    exact.first_difference = fmt::format("point {}", points + 1);
    exact.detail = fmt::format("{} points recorded, {} in the rerun", points + curve.only_a,
                               points + curve.only_b);
  } else if (curve.state == CurveState::kVacuous) {
    exact.state = State::kVacuous;
    exact.detail = "equal, but constant, too short or never finite: it shows nothing";
  } else {
    exact.detail = fmt::format("{} points equal bit for bit", points);
  }
  return exact;
}

ExactComparison Exact(const MetricDecision& metric) {
  ExactComparison exact{.subject = "metric " + metric.name, .state = State::kMissing};
  if (metric.reruns.empty() || (metric.history.empty() && !metric.recorded)) {
    exact.detail = "on one side only";
    return exact;
  }
  if (IsMissing(metric)) {
    exact.detail = "a rerun did not report it";
    return exact;
  }
  const double before = metric.recorded ? *metric.recorded : metric.history.front();
  const auto other =
      std::ranges::find_if(metric.reruns, [&](double value) { return !SameBits(value, before); });
  exact.state = IsEqual(metric) ? State::kEqual : State::kDiffers;
  exact.compared_by = ComparedBy::kValues;
  exact.detail = fmt::format("{} recorded, {} in the rerun", before,
                             other == metric.reruns.end() ? metric.reruns.front() : *other);
  return exact;
}

}  // namespace

std::string_view ComparedByWords(ComparedBy by) {
  switch (by) {
    case ComparedBy::kTensors:
      return "tensors";
    case ComparedBy::kTensorDigests:
      return "recorded digests of tensors";
    case ComparedBy::kFileDigest:
      return "SHA-256 of the file";
    case ComparedBy::kValues:
      return "values";
    case ComparedBy::kNothing:
      return "nothing";
  }
  Abort("unknown ComparedBy");
}

ComparedBy HowCompared(const CheckpointComparison& checkpoint) {
  if (checkpoint.is_file) return ComparedBy::kFileDigest;
  return checkpoint.from_digests ? ComparedBy::kTensorDigests : ComparedBy::kTensors;
}

std::vector<ExactComparison> ExactOf(const Comparison& comparison) {
  std::vector<ExactComparison> list;
  for (const CheckpointComparison& checkpoint : comparison.checkpoints) {
    list.push_back(Exact(checkpoint));
  }
  for (const Finding& finding : comparison.findings) {
    if (finding.code != "missing_checkpoint" && finding.code != "missing_output") continue;
    list.push_back({.subject = finding.subject,
                    .state = State::kMissing,
                    .compared_by = ComparedBy::kNothing,
                    .first_difference = {},
                    .detail = finding.message,
                    .tensor = {}});
  }
  for (const CurveComparison& curve : comparison.curves) {
    if (curve.kind != CurveKind::kResource) list.push_back(Exact(curve));
  }
  for (const MetricDecision& metric : comparison.metrics) list.push_back(Exact(metric));
  return list;
}

}  // namespace rharness
