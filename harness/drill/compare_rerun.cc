// Comparing one rerun with its manifest.
#include "harness/drill/compare_rerun.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "compare/weights/checkpoint.h"
#include "compare/weights/tensor_diff.h"
#include "harness/drill/facts_of.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using State = ExactComparison::State;

bool SameBits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

std::vector<TensorDigest> DigestsOf(const Artifact& artifact) {
  std::vector<TensorDigest> digests;
  for (const TensorRecord& record : artifact.tensors) {
    const auto dtype = ParseDType(record.dtype);
    if (!dtype.ok()) return {};
    digests.push_back(TensorDigest{record.name, *dtype, record.shape, record.sha256});
  }
  return digests;
}

std::string DescribeTensor(const TensorDifference& tensor) {
  if (tensor.elements == 0) return "the original bytes are not at hand; digests differ";
  std::string text = fmt::format(
      "{} [{}], {} of {} elements differ, the first at index {}, max abs {:.3g}, max {} ULP",
      DTypeName(tensor.dtype), fmt::join(tensor.shape, ", "), tensor.differing, tensor.elements,
      tensor.first_index, tensor.max_abs, tensor.max_ulp);
  if (tensor.non_finite_changes > 0) {
    text += fmt::format(", {} changed between finite and not finite", tensor.non_finite_changes);
  }
  return text;
}

// The difference of two checkpoints by their bytes, if the original was kept and still is itself.
std::optional<CheckpointDifference> DiffBytes(const Artifact& recorded, const Artifact& seen,
                                              const Places& places, const fs::path& drill_folder) {
  if (recorded.location.empty() || seen.location.empty()) return std::nullopt;
  const auto original = Locate(places, recorded.location);
  if (!original.ok()) return std::nullopt;
  const auto a = OpenCheckpoint(*original);
  const auto b = OpenCheckpoint(drill_folder / seen.location);
  if (!a.ok() || !b.ok()) return std::nullopt;
  const auto digest = DigestCheckpoint(**a);
  if (!digest.ok() || digest->sha256 != recorded.tensor_digest) return std::nullopt;
  auto difference = DiffCheckpoints(**a, **b);
  if (!difference.ok()) return std::nullopt;
  return std::move(*difference);
}

void DescribeDifference(const CheckpointDifference& difference, ExactComparison* exact) {
  if (!difference.differing.empty()) {
    const TensorDifference& first = difference.differing.front();
    exact->tensor = first;
    exact->first_difference = "tensor " + first.name;
    const std::size_t count = difference.differing.size();
    exact->detail =
        fmt::format("{} {}; {}: {}", count, count == 1 ? "tensor differs" : "tensors differ",
                    first.name, DescribeTensor(first));
  } else if (!difference.shape_or_dtype.empty()) {
    exact->first_difference = "tensor " + difference.shape_or_dtype.front();
    exact->detail =
        fmt::format("tensors of another shape or dtype: {}", difference.shape_or_dtype.size());
  } else {
    exact->detail = fmt::format("{} tensors only recorded, {} only in the rerun",
                                difference.only_a.size(), difference.only_b.size());
    const auto& names = difference.only_a.empty() ? difference.only_b : difference.only_a;
    if (!names.empty()) exact->first_difference = "tensor " + names.front();
  }
}

ExactComparison CompareWeights(const Artifact& recorded, const Evidence& evidence,
                               const Places& places, const fs::path& drill_folder) {
  ExactComparison exact{.subject = fmt::format("{} {}", recorded.role, recorded.path)};
  const auto seen =
      std::find_if(evidence.artifacts.begin(), evidence.artifacts.end(),
                   [&](const Artifact& artifact) { return artifact.path == recorded.path; });
  if (seen == evidence.artifacts.end() || seen->tensor_digest.empty() ||
      recorded.tensor_digest.empty()) {
    exact.state = State::kMissing;
    exact.detail = recorded.tensor_digest.empty() ? "no tensor digest was recorded"
                                                  : "the rerun did not write it";
    return exact;
  }
  if (seen->tensor_digest == recorded.tensor_digest && seen->tensors.empty()) {
    exact.state = State::kVacuous;
    exact.detail = "neither checkpoint holds a tensor: it shows nothing";
    return exact;
  }
  if (seen->tensor_digest == recorded.tensor_digest) {
    exact.state = State::kEqual;
    exact.detail = fmt::format("{} tensors equal bit for bit{}", seen->tensors.size(),
                               seen->sha256 == recorded.sha256 ? "" : "; only metadata differs");
    return exact;
  }
  exact.state = State::kDiffers;
  const auto by_bytes = DiffBytes(recorded, *seen, places, drill_folder);
  DescribeDifference(by_bytes ? *by_bytes : DiffDigests(DigestsOf(recorded), DigestsOf(*seen)),
                     &exact);
  return exact;
}

ExactComparison CompareMetric(const Metric& recorded, const Evidence& evidence) {
  ExactComparison exact{.subject = "metric " + recorded.name};
  const auto seen = evidence.metrics.metrics.find(recorded.name);
  if (seen == evidence.metrics.metrics.end()) {
    exact.state = State::kMissing;
    exact.detail = "the rerun did not report it";
    return exact;
  }
  exact.state = SameBits(recorded.value, seen->second) ? State::kEqual : State::kDiffers;
  exact.detail = fmt::format("{} recorded, {} in the rerun", recorded.value, seen->second);
  return exact;
}

// A curve that says nothing: fewer than two points, one value throughout, or never finite.
bool IsVacuous(const Curve& curve) {
  if (curve.values.size() < 2) return true;
  const bool constant = std::all_of(curve.values.begin(), curve.values.end(), [&](double value) {
    return SameBits(value, curve.values.front());
  });
  return constant || std::none_of(curve.values.begin(), curve.values.end(),
                                  [](double value) { return std::isfinite(value); });
}

void CompareSteps(const Curve& recorded, const Curve& seen, ExactComparison* exact) {
  const std::size_t common = std::min(recorded.steps.size(), seen.steps.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (recorded.steps[i] == seen.steps[i] && SameBits(recorded.values[i], seen.values[i])) {
      continue;
    }
    exact->state = State::kDiffers;
    exact->first_difference = fmt::format("step {}", recorded.steps[i]);
    exact->detail = fmt::format("{} recorded, {} in the rerun", recorded.values[i], seen.values[i]);
    return;
  }
  if (recorded.steps.size() == seen.steps.size()) return;
  exact->state = State::kDiffers;
  exact->first_difference = fmt::format("point {}", common + 1);
  exact->detail =
      fmt::format("{} points recorded, {} in the rerun", recorded.steps.size(), seen.steps.size());
}

ExactComparison CompareCurve(const Curve& recorded, const Evidence& evidence) {
  ExactComparison exact{.subject = "curve " + recorded.name};
  const auto& curves = evidence.metrics.curves;
  const auto seen = std::find_if(curves.begin(), curves.end(),
                                 [&](const Curve& curve) { return curve.name == recorded.name; });
  if (seen == curves.end()) {
    exact.state = State::kMissing;
    exact.detail = "the rerun did not report it";
    return exact;
  }
  exact.state = State::kEqual;
  exact.detail = fmt::format("{} points equal bit for bit", recorded.steps.size());
  CompareSteps(recorded, *seen, &exact);
  if (exact.state == State::kEqual && IsVacuous(recorded)) {
    exact.state = State::kVacuous;
    exact.detail = "equal, but constant, too short or never finite: it shows nothing";
  }
  return exact;
}

Finding FindingOf(const Remark& remark) {
  Finding finding{.code = remark.code,
                  .subject = remark.subject,
                  .observed = remark.observed,
                  .limit = remark.limit,
                  .message = remark.message};
  if (const auto layer = ParseLayer(remark.layer); layer.ok()) finding.layer = *layer;
  return finding;
}

// How far the rerun came, and why not further.
void Classify(const Evidence& evidence, RerunComparison* comparison) {
  using RerunState = RerunComparison::State;
  const auto set = [&](RerunState state, std::string reason) {
    comparison->state = state;
    comparison->reason = std::move(reason);
  };
  if (!evidence.obstacle.empty()) {
    const auto layer = ParseLayer(evidence.obstacle_layer);
    if (layer.ok()) comparison->layer = *layer;
    return set(layer.ok() ? RerunState::kNotComparable : RerunState::kInfra, evidence.obstacle);
  }
  if (!evidence.outcome.Succeeded()) {
    const OutcomeKind kind = evidence.outcome.kind;
    const bool active = kind == OutcomeKind::kExited || kind == OutcomeKind::kTimedOut;
    return set(RerunState::kFailed,
               fmt::format("the run {}{}", active ? "" : "was ", evidence.outcome.ToString()));
  }
  for (const Remark& remark : evidence.remarks) {
    if (remark.code == "output_missing" || remark.code == "output_unreadable") {
      return set(RerunState::kFailed, remark.message);
    }
    if (const auto layer = ParseLayer(remark.layer); layer.ok()) {
      comparison->layer = *layer;
      return set(RerunState::kNotComparable, remark.message);
    }
  }
  set(RerunState::kCompared, "");
}

}  // namespace

RerunComparison CompareRerun(const Manifest& manifest, const Evidence& evidence,
                             const Places& places, const fs::path& drill_folder) {
  RerunComparison comparison{.index = evidence.rerun};
  Classify(evidence, &comparison);
  comparison.layers = CompareFacts(FactsOf(manifest), FactsOf(evidence, manifest));
  for (const Remark& remark : evidence.remarks) comparison.findings.push_back(FindingOf(remark));
  if (comparison.state != RerunComparison::State::kCompared) return comparison;
  for (const Artifact& artifact : manifest.artifacts) {
    if (artifact.role != "weights" && artifact.role != "optimizer") continue;
    comparison.exact.push_back(CompareWeights(artifact, evidence, places, drill_folder));
  }
  for (const Metric& metric : manifest.metrics) {
    comparison.exact.push_back(CompareMetric(metric, evidence));
  }
  for (const Curve& curve : manifest.curves) {
    comparison.exact.push_back(CompareCurve(curve, evidence));
  }
  return comparison;
}

std::vector<std::string> DescribeCompared(const RerunComparison& rerun) {
  std::vector<std::string> lines;
  for (const ExactComparison& exact : rerun.exact) {
    lines.push_back(fmt::format("{}: {}", exact.subject, exact.detail));
  }
  return lines;
}

}  // namespace rharness
