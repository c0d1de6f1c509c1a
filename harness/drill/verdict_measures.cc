// Measures beside a verdict; see verdict_measures.h.
#include "harness/drill/verdict_measures.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "harness/records/manifest/admission.h"

namespace rharness {
namespace {

// An identical run only has its list of compared things.
std::optional<bool> WeightsEqual(const ReportRun& run) {
  constexpr std::string_view kWeights = "weights ";
  std::optional<bool> equal;
  for (const ExactComparison& one : run.exact) {
    if (!one.subject.starts_with(kWeights)) continue;
    equal = equal.value_or(true) && one.state == ExactComparison::State::kEqual;
  }
  return equal;
}

std::optional<double> LargestMargins(const ReportRun& run, const Manifest& manifest) {
  const bool has_margin = std::ranges::any_of(
      manifest.metrics, [](const Metric& metric) { return metric.margin.value_or(0.0) > 0.0; });
  if (run.verdict == Verdict::kIdentical) return has_margin ? std::optional(0.0) : std::nullopt;
  std::optional<double> largest;
  for (const MetricDecision& metric : run.metrics) {
    const double margins = std::fabs(metric.difference) / metric.margin;
    if (metric.margin > 0.0 && !metric.reruns.empty() && std::isfinite(margins)) {
      largest = std::max(largest.value_or(0.0), margins);
    }
  }
  return largest;
}

std::optional<std::int64_t> Warnings(const std::map<int, Evidence>& evidence) {
  std::optional<std::int64_t> warnings;
  for (const auto& [rerun, one] : evidence) {
    if (!one.observation || !one.observation->Has(kSeenByPython)) continue;
    warnings = warnings.value_or(0);
    for (const auto& [name, count] : one.observation->nondeterministic) *warnings += count;
  }
  return warnings;
}

// A rerun whose data were missing or not the recorded ones was stopped for it.
std::optional<bool> DataHad(const ReportRun& run, const Manifest& manifest) {
  if (manifest.data.empty()) return std::nullopt;
  return std::ranges::none_of(run.ends, [](const RerunEnd& end) {
    return end.state == RerunEnd::State::kNotComparable && end.layer == Layer::kData;
  });
}

}  // namespace

std::optional<VerdictMeasures> MeasuresOf(const ReportRun& run, const Manifest& manifest,
                                          const std::map<int, Evidence>& evidence) {
  if (run.verdict == Verdict::kInfra || evidence.empty()) return std::nullopt;
  const Machine& machine = evidence.begin()->second.machine;
  return VerdictMeasures{.node = NodeName(machine),
                         .weights_equal = WeightsEqual(run),
                         .margins = LargestMargins(run, manifest),
                         .warnings = Warnings(evidence),
                         .data_had = DataHad(run, manifest),
                         .not_recorded = static_cast<std::int64_t>(Admit(manifest).size())};
}

}  // namespace rharness
