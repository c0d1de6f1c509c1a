// Comparing metrics, curves and checkpoints of two legs.
#include "harness/experiments/properties/leg_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "compare/compare_checkpoints.h"
#include "compare/curves/series.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"
#include "harness/experiments/properties/leg_answers.h"
#include "harness/judge/record_parts.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr double kNoDistance = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostTensorsTold = 3;

bool SameBits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

double DistanceOf(double a, double b) {
  if (SameBits(a, b)) return 0.0;
  return std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) : kNoDistance;
}

std::set<std::string> MetricsToCompare(const Manifest& run, const LegOutputs& a,
                                       const LegOutputs& b, bool every_metric) {
  std::set<std::string> names;
  for (const Metric& metric : run.metrics) names.insert(metric.name);
  if (every_metric) names.clear();
  for (const LegOutputs* side : {&a, &b}) {
    if (!every_metric) break;
    for (const auto& [name, value] : side->metrics.metrics) names.insert(name);
  }
  std::erase_if(names,
                [](const std::string& name) { return KindOfCurve(name) == CurveKind::kResource; });
  return names;
}

void CompareMetric(const std::string& name, const LegOutputs& a, const LegOutputs& b,
                   std::vector<Apart>* aparts) {
  const auto in_a = a.metrics.metrics.find(name);
  const auto in_b = b.metrics.metrics.find(name);
  const bool has_a = in_a != a.metrics.metrics.end();
  const bool has_b = in_b != b.metrics.metrics.end();
  if (!has_a && !has_b) return;
  // Equal bits of non-finite values show nothing.
  if (has_a && has_b && !std::isfinite(in_a->second) && SameBits(in_a->second, in_b->second))
    return;
  Apart apart{.subject = "metric " + name, .name = name, .distance = kNoDistance, .words = {}};
  if (has_a && has_b) {
    apart.equal = SameBits(in_a->second, in_b->second);
    apart.distance = DistanceOf(in_a->second, in_b->second);
    if (!apart.equal) {
      apart.words =
          fmt::format("{} and {}, {:g} apart", in_a->second, in_b->second, apart.distance);
    }
  } else {
    apart.words = fmt::format("measured by {} alone", has_a ? "the first" : "the second");
  }
  aparts->push_back(std::move(apart));
}

using Points = std::map<std::int64_t, double>;

Points PointsOf(const RunMetrics& metrics, const std::string& name) {
  Points points;
  const auto curve = std::ranges::find(metrics.curves, name, &Curve::name);
  if (curve == metrics.curves.end()) return points;
  for (std::size_t i = 0; i < curve->steps.size(); ++i) points[curve->steps[i]] = curve->values[i];
  return points;
}

void CompareCurve(const std::string& name, const LegOutputs& a, const LegOutputs& b,
                  std::vector<Apart>* aparts) {
  const Points in_a = PointsOf(a.metrics, name);
  const Points in_b = PointsOf(b.metrics, name);
  if (in_a.empty() && in_b.empty()) return;
  Apart apart{.subject = "curve " + name, .name = name, .equal = true, .words = {}};
  const auto differs = [&](double distance, std::string words) {
    if (apart.equal) apart.words = std::move(words);
    apart.equal = false;
    apart.distance = std::max(apart.distance, distance);
  };
  for (const auto& [step, value] : in_a) {
    const auto other = in_b.find(step);
    if (other == in_b.end()) {
      differs(kNoDistance, fmt::format("the second has no value at step {}", step));
    } else if (!SameBits(value, other->second)) {
      differs(DistanceOf(value, other->second),
              fmt::format("from step {} on, {} and {}", step, value, other->second));
    }
  }
  for (const auto& [step, value] : in_b) {
    if (in_a.contains(step)) continue;
    differs(kNoDistance, fmt::format("the first has no value at step {}", step));
    break;
  }
  const auto is_finite = [](const auto& point) { return std::isfinite(point.second); };
  if (apart.equal && std::ranges::none_of(in_a, is_finite)) return;
  if (!apart.equal && std::isfinite(apart.distance)) {
    apart.words += fmt::format(", at most {:g} apart", apart.distance);
  }
  aparts->push_back(std::move(apart));
}

bool IsFloatingPoint(DType dtype) {
  const std::string_view name = DTypeName(dtype);
  return name.starts_with('F') || name.starts_with("BF") || name.starts_with('C');
}

double DistanceOf(const TensorDifference& tensor) {
  if (!IsFloatingPoint(tensor.dtype) || tensor.non_finite_changes > 0) return kNoDistance;
  if (tensor.norm_difference == 0.0) return 0.0;  // zeros of another sign
  const double relative = tensor.norm_difference / tensor.norm_a;
  return std::isfinite(relative) ? relative : kNoDistance;
}

// A file has unread content beside its tensors, or no tensors at all: equal tensors show no equal
// checkpoint.
std::string WhyNotWhole(const CheckpointComparison& part) {
  if (!part.non_finite.empty()) return part.non_finite;
  if (!part.not_compared.empty()) return "not all of it is read: " + part.not_compared.front();
  return part.difference.vacuous ? "it has no tensors" : "";
}

Apart ApartOf(const CheckpointComparison& part, const std::string& subject) {
  const CheckpointDifference& difference = part.difference;
  Apart apart{.subject = subject, .name = {}, .words = WhyNotWhole(part)};
  apart.equal = difference.bit_equal && apart.words.empty();
  if (apart.equal) return apart;
  std::string told;
  const TensorDifference* worst = nullptr;
  for (const TensorDifference& tensor : difference.differing) {
    if (worst == nullptr || DistanceOf(tensor) > DistanceOf(*worst)) worst = &tensor;
  }
  if (worst != nullptr) {
    apart.distance = DistanceOf(*worst);
    const std::string relative =
        std::isfinite(apart.distance) ? fmt::format(", {:g} relative", apart.distance) : "";
    told = fmt::format("{} of {} tensors differ, most of all {} ({} of {} values{})",
                       difference.differing.size(), difference.compared, worst->name,
                       worst->differing, worst->elements, relative);
  }
  const auto alone = [&](const std::vector<std::string>& names, const char* what) {
    for (std::size_t i = 0; i < std::min(names.size(), kMostTensorsTold); ++i) {
      told += fmt::format("{}{} {}", told.empty() ? "" : ", ", names[i], what);
    }
    if (!names.empty()) apart.distance = kNoDistance;
  };
  alone(difference.only_a, "is in the first alone");
  alone(difference.only_b, "is in the second alone");
  alone(difference.shape_or_dtype, "has another shape or type");
  if (!apart.words.empty() || part.from_digests) apart.distance = kNoDistance;
  apart.words += (apart.words.empty() || told.empty() ? "" : "; ") + told;
  return apart;
}

// One artifact is one thing under one name, however many parts its checkpoint has: pairs with equal
// digests are not opened, so that their parts are not known, and the judge lines pairs up by name.
Apart Merged(const std::vector<CheckpointComparison>& parts, const std::string& subject) {
  Apart merged{.subject = subject, .name = {}, .equal = !parts.empty(), .words = {}};
  if (parts.empty()) {
    merged.distance = kNoDistance;
    merged.words = "there is nothing to compare";
  }
  for (const CheckpointComparison& part : parts) {
    const Apart apart = ApartOf(part, part.subject);
    if (apart.equal) continue;
    merged.equal = false;
    merged.distance = std::max(merged.distance, apart.distance);
    merged.words += merged.words.empty() ? "" : "; ";
    merged.words += parts.size() == 1 ? apart.words : part.subject + ": " + apart.words;
  }
  return merged;
}

Result<Apart> CompareArtifacts(const Artifact& a, const Artifact& b, const fs::path& folder) {
  const std::string subject = fmt::format("{} {}", a.role, a.path);
  const bool finite = std::ranges::all_of(
      a.tensors, [](const TensorRecord& tensor) { return tensor.non_finite == 0; });
  if (finite && !a.tensor_digest.empty() && LoadedDigest(a) == LoadedDigest(b)) {
    return Apart{.subject = subject, .name = {}, .equal = true, .words = {}};
  }
  std::vector<std::string> missing;
  ASSIGN_OR_RETURN(RecordedCheckpoint first, OpenRecorded(a, folder / a.location, {}, &missing));
  ASSIGN_OR_RETURN(RecordedCheckpoint second, OpenRecorded(b, folder / b.location, {}, &missing));
  ASSIGN_OR_RETURN(const auto parts,
                   CompareCheckpoints({std::move(first)}, {std::move(second)}, {}));
  return Merged(parts, subject);
}

Apart CompareFiles(const Artifact& a, const Artifact& b) {
  const bool equal = a.sha256 == b.sha256;
  return {.subject = "file " + a.path,
          .name = {},
          .equal = equal,
          .distance = equal ? 0.0 : kNoDistance,
          .words = equal ? ""
                         : fmt::format("{} and {} bytes, with other digests", a.size_bytes,
                                       b.size_bytes)};
}

std::set<std::string> DeclaredCurves(const Manifest& run) {
  std::set<std::string> names;
  for (const Curve& curve : run.curves) {
    if (KindOfCurve(curve.name) != CurveKind::kResource) names.insert(curve.name);
  }
  return names;
}

}  // namespace

LegOutputs OutputsOf(const Evidence& leg, const Evidence* before) {
  LegOutputs outputs{.metrics = leg.metrics, .artifacts = leg.artifacts};
  if (before == nullptr) return outputs;
  for (const Curve& earlier : before->metrics.curves) {
    Points points = PointsOf(leg.metrics, earlier.name);
    for (std::size_t i = 0; i < earlier.steps.size(); ++i) {
      points.emplace(earlier.steps[i], earlier.values[i]);  // the leg's own stays
    }
    std::erase_if(outputs.metrics.curves,
                  [&](const Curve& curve) { return curve.name == earlier.name; });
    Curve& whole = outputs.metrics.curves.emplace_back();
    whole.name = earlier.name;
    for (const auto& [step, value] : points) {
      whole.steps.push_back(step);
      whole.values.push_back(value);
    }
  }
  return outputs;
}

Result<std::vector<Apart>> CompareOutputs(const Manifest& run, const LegOutputs& a,
                                          const LegOutputs& b, WhatCounts counts,
                                          const fs::path& folder) {
  std::vector<Apart> aparts;
  const bool every_metric = counts == WhatCounts::kEveryMetric;
  if (counts == WhatCounts::kAnswers) {
    ASSIGN_OR_RETURN(aparts, CompareAnswers(a.artifacts, b.artifacts, folder));
    if (!aparts.empty()) return aparts;
  }
  for (const std::string& name : MetricsToCompare(run, a, b, every_metric)) {
    CompareMetric(name, a, b, &aparts);
  }
  if (every_metric) return aparts;
  for (const std::string& name : DeclaredCurves(run)) CompareCurve(name, a, b, &aparts);
  for (const Artifact& declared : run.artifacts) {
    const bool as_file = counts == WhatCounts::kAnswers && declared.role == "other";
    if (!IsCheckpoint(declared) && !as_file) continue;
    const auto in_a = std::ranges::find(a.artifacts, declared.path, &Artifact::path);
    const auto in_b = std::ranges::find(b.artifacts, declared.path, &Artifact::path);
    if (in_a == a.artifacts.end() || in_b == b.artifacts.end()) continue;  // that leg failed
    if (as_file) {
      if (in_a->size_bytes == 0 && in_b->size_bytes == 0) continue;  // no answer at all
      aparts.push_back(CompareFiles(*in_a, *in_b));
      continue;
    }
    ASSIGN_OR_RETURN(Apart apart, CompareArtifacts(*in_a, *in_b, folder));
    aparts.push_back(std::move(apart));
  }
  return aparts;
}

Result<std::vector<Apart>> CompareLeft(const fs::path& a, const fs::path& b,
                                       const std::string& name) {
  std::vector<RecordedCheckpoint> sides;
  for (const fs::path& path : {a, b}) {
    ASSIGN_OR_RETURN(std::shared_ptr<Checkpoint> checkpoint, OpenCheckpoint(path));
    sides.push_back({.path = name,
                     .role = "weights",
                     .checkpoint = std::move(checkpoint),
                     .recorded = {},
                     .recorded_digest = {}});
  }
  ASSIGN_OR_RETURN(const auto parts, CompareCheckpoints({sides[0]}, {sides[1]}, {}));
  std::vector<Apart> aparts;
  for (const CheckpointComparison& part : parts) {
    aparts.push_back(
        ApartOf(part, fmt::format("{} of {}", part.weights ? "weights" : "optimizer", name)));
  }
  return aparts;
}

std::string WhyNotStopped(const Manifest& run, const Evidence& straight, const Evidence& stopped) {
  for (const std::string& name : DeclaredCurves(run)) {
    const Points whole = PointsOf(straight.metrics, name);
    const Points part = PointsOf(stopped.metrics, name);
    if (whole.empty() || part.empty() || part.rbegin()->first < whole.rbegin()->first) continue;
    return fmt::format(
        "the run that should have stopped continued: its curve {} reaches step {}, as that of the "
        "straight run",
        name, part.rbegin()->first);
  }
  return "";
}

std::string WhyNotGoneOn(const Manifest& run, const Evidence& stopped, const Evidence& resumed) {
  std::string anew;
  for (const std::string& name : DeclaredCurves(run)) {
    const Points before = PointsOf(stopped.metrics, name);
    const Points after = PointsOf(resumed.metrics, name);
    if (before.empty() || after.empty()) continue;
    if (after.begin()->first > before.rbegin()->first) return "";
    anew = fmt::format("its curve {} begins at step {}, as that of a new run", name,
                       after.begin()->first);
  }
  return "nothing shows that the run continued and did not begin again: " +
         (anew.empty() ? "no declared curve begins behind the cut" : anew);
}

}  // namespace rharness
