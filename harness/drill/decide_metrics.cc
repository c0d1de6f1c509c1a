// Gathering the values that a metric decision needs: replicates, reruns, and the family's noise.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "harness/drill/compare_rerun.h"

namespace rharness {
namespace {

double Variance(const std::vector<double>& values) {
  double mean = 0.0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  double sum = 0.0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size() - 1);
}

// The prior comes from the other configurations: this one's own runs count on their own.
VariancePrior PriorOf(const Family::ByConfiguration& by_configuration, const std::string& own) {
  std::vector<double> variances;
  std::vector<double> dfs;
  for (const auto& [configuration, values] : by_configuration) {
    if (configuration == own || values.size() < 2) continue;
    variances.push_back(Variance(values));
    dfs.push_back(static_cast<double>(values.size() - 1));
  }
  return FitVariancePrior(variances, dfs);
}

MetricInput InputOf(const Metric& metric, const std::vector<Evidence>& compared) {
  MetricInput input{.name = metric.name,
                    .unit = metric.unit == "1" ? "" : metric.unit,
                    .primary = metric.primary,
                    .margin = metric.margin,
                    .quantum = metric.quantum};
  for (const Evidence& evidence : compared) {
    const auto seen = evidence.metrics.metrics.find(metric.name);
    if (seen == evidence.metrics.metrics.end()) {
      ++input.missing;
    } else if (std::isfinite(seen->second)) {
      input.reruns.push_back(seen->second);
    } else {
      input.reruns.push_back(std::numeric_limits<double>::quiet_NaN());
    }
  }
  return input;
}

// As the reruns reported them: an infinity stays one.
std::vector<double> ReportedValues(const std::string& metric,
                                   const std::vector<Evidence>& compared) {
  std::vector<double> values;
  for (const Evidence& evidence : compared) {
    const auto seen = evidence.metrics.metrics.find(metric);
    if (seen != evidence.metrics.metrics.end()) values.push_back(seen->second);
  }
  return values;
}

}  // namespace

Family::Family(const std::vector<Manifest>& members) {
  for (const Manifest& member : members) {
    const std::string configuration = ConfigurationKey(member);
    for (const Metric& metric : member.metrics) {
      values_[metric.name][configuration].push_back(metric.value);
    }
  }
}

const Family::ByConfiguration& Family::Values(const std::string& metric) const {
  static const ByConfiguration kNone;
  const auto found = values_.find(metric);
  return found == values_.end() ? kNone : found->second;
}

std::vector<MetricDecision> DecideMetrics(const Manifest& manifest, const Family& family,
                                          const std::vector<Evidence>& compared) {
  std::vector<MetricDecision> decisions;
  if (compared.empty()) return decisions;
  const std::string own = ConfigurationKey(manifest);
  for (const Metric& metric : manifest.metrics) {
    const Family::ByConfiguration& values = family.Values(metric.name);
    MetricInput input = InputOf(metric, compared);
    if (const auto history = values.find(own); history != values.end()) {
      input.history = history->second;
    }
    input.prior = PriorOf(values, own);
    MetricDecision& decision = decisions.emplace_back(DecideMetric(input));
    decision.recorded = metric.value;
    decision.reruns = ReportedValues(metric.name, compared);
  }
  return decisions;
}

}  // namespace rharness
