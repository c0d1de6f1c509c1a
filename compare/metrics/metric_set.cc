// All metrics of one run together: which shifts count when several were looked at.
#include "compare/metrics/metric_set.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "compare/stats/multiplicity.h"

namespace rharness {
namespace {

// Drifted without a test: the value itself is the proof.
bool IsNonFinite(const MetricDecision& metric) {
  return metric.verdict == MetricVerdict::kDrifted &&
         metric.reason.find("non_finite") != std::string::npos;
}

void Adjust(const std::vector<MetricDecision>& metrics, bool primary, double rate,
            MetricSetDecision* result) {
  std::vector<std::size_t> owners;
  std::vector<double> p_values;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (metrics[i].primary != primary || IsNonFinite(metrics[i])) continue;
    owners.push_back(i);
    p_values.push_back(metrics[i].p_difference);
  }
  const std::vector<double> adjusted =
      primary ? stats::AdjustHolm(p_values) : stats::AdjustBenjaminiHochberg(p_values);
  for (std::size_t i = 0; i < owners.size(); ++i) {
    result->adjusted_p[owners[i]] = adjusted[i];
    result->significant[owners[i]] = adjusted[i] < rate;
  }
}

}  // namespace

MetricSetDecision DecideMetricSet(const std::vector<MetricDecision>& metrics,
                                  double false_discovery_rate) {
  MetricSetDecision result;
  result.adjusted_p.assign(metrics.size(), 0.0);
  result.significant.assign(metrics.size(), true);
  double alpha = 0.5;
  for (const MetricDecision& metric : metrics) {
    if (metric.primary) alpha = std::min(alpha, metric.alpha_drift);
  }
  Adjust(metrics, true, alpha, &result);
  Adjust(metrics, false, false_discovery_rate, &result);
  bool any_primary = false;
  bool all_within = true;
  bool drifted = false;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (!metrics[i].primary) continue;
    any_primary = true;
    all_within = all_within && metrics[i].verdict == MetricVerdict::kWithin;
    if (!result.significant[i]) continue;
    drifted = drifted || metrics[i].verdict == MetricVerdict::kDrifted;
    if (metrics[i].verdict == MetricVerdict::kNeedsConfirmation) result.confirmation_due = true;
  }
  if (drifted) {
    result.verdict = MetricVerdict::kDrifted;
  } else if (result.confirmation_due) {
    result.verdict = MetricVerdict::kNeedsConfirmation;
  } else if (any_primary && all_within) {
    result.verdict = MetricVerdict::kWithin;
  }
  return result;
}

}  // namespace rharness
