// Numbers moved by a known size; reruns in the place of records.
#include "harness/experiments/gameday/planted_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/stats/moments.h"
#include "harness/experiments/isolate/axes.h"
#include "harness/judge/envelope.h"
#include "harness/judge/rerun_outputs.h"

namespace rharness {
namespace {

Status ShiftMetric(const Fault& fault, const Manifest& run, const std::vector<Manifest>& others,
                   Evidence* evidence) {
  const auto metric = std::ranges::find(run.metrics, fault.subject, &Metric::name);
  const auto value = evidence->metrics.metrics.find(fault.subject);
  if (metric == run.metrics.end() || value == evidence->metrics.metrics.end()) {
    return Unsupported("the run has no such metric");
  }
  std::vector<double> values;
  for (const Manifest& other : others) {
    const auto at = std::ranges::find(other.metrics, fault.subject, &Metric::name);
    if (at != other.metrics.end() && std::isfinite(at->value)) values.push_back(at->value);
  }
  if (values.size() < kFewestOthers) {
    return Unsupported(
        fmt::format("its spread is not known: {} other runs of the configuration "
                    "recorded it, {} are needed",
                    values.size(), kFewestOthers));
  }
  const double deviation = std::sqrt(stats::ComputeMoments(values).Variance());
  if (!(deviation > 0.0)) return Unsupported("all other runs recorded the same value");
  value->second +=
      (metric->direction == MetricDirection::kHigher ? -1.0 : 1.0) * fault.size * deviation;
  return {};
}

Status ScaleCurve(const Fault& fault, const Manifest& run, Evidence* evidence) {
  const bool declared =
      std::ranges::find(run.curves, fault.subject, &Curve::name) != run.curves.end();
  const auto curve = std::ranges::find(evidence->metrics.curves, fault.subject, &Curve::name);
  if (!declared || curve == evidence->metrics.curves.end() || curve->values.empty()) {
    return Unsupported("the run has no such curve");
  }
  for (double& value : curve->values) value *= fault.size;
  return {};
}

}  // namespace

Status PlantInNumbers(const Fault& fault, const Manifest& run, const std::vector<Manifest>& others,
                      Evidence* evidence) {
  if (fault.kind == FaultKind::kMetric) return ShiftMetric(fault, run, others, evidence);
  return ScaleCurve(fault, run, evidence);
}

Manifest AsRecorded(const Manifest& run, const Evidence& rerun,
                    const std::filesystem::path& folder) {
  Manifest recorded = AsSeen(run, rerun);
  for (Metric& metric : recorded.metrics) {
    const auto seen = rerun.metrics.metrics.find(metric.name);
    if (seen != rerun.metrics.metrics.end()) metric.value = seen->second;
  }
  for (Curve& curve : recorded.curves) {
    const auto seen = std::ranges::find(rerun.metrics.curves, curve.name, &Curve::name);
    if (seen != rerun.metrics.curves.end()) curve = *seen;
  }
  for (Artifact& artifact : recorded.artifacts) {
    const auto seen = std::ranges::find(rerun.artifacts, artifact.path, &Artifact::path);
    if (seen == rerun.artifacts.end()) continue;
    artifact = *seen;
    if (!artifact.location.empty()) artifact.location = (folder / artifact.location).string();
  }
  recorded.unread_metrics = rerun.unread_metrics;
  return recorded;
}

bool SameOutputs(const Evidence& a, const Evidence& b) {
  const auto same = [](const Artifact& one, const Artifact& other) {
    return one.path == other.path && LoadedDigest(one) == LoadedDigest(other) &&
           (!one.tensor_digest.empty() || one.sha256 == other.sha256);
  };
  return SameMeasured(a.metrics, b.metrics) && std::ranges::equal(a.artifacts, b.artifacts, same);
}

}  // namespace rharness
