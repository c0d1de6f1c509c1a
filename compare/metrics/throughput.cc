// Throughput: is the new environment slower?
#include "compare/metrics/throughput.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace rharness {
namespace {

// One value a node: the mean of its runs' logarithms. A value that is not a time stays NaN.
std::vector<double> LogSecondsByNode(const std::vector<ThroughputRun>& runs) {
  std::map<std::string, std::vector<double>> shared;
  std::vector<double> values;
  for (const ThroughputRun& run : runs) {
    const double seconds = run.step_seconds > 0.0 ? std::log(run.step_seconds) : std::nan("");
    if (run.node.empty()) {
      values.push_back(seconds);
    } else {
      shared[run.node].push_back(seconds);
    }
  }
  for (const auto& [node, logs] : shared) {
    double sum = 0.0;
    for (const double value : logs) sum += value;
    values.push_back(sum / static_cast<double>(logs.size()));
  }
  return values;
}

}  // namespace

Result<double> MedianStepSeconds(const std::vector<double>& step_seconds, std::size_t warm_up) {
  if (step_seconds.size() <= warm_up) {
    return InvalidInput(fmt::format("{} steps with a warm-up of {}; expected more steps",
                                    step_seconds.size(), warm_up));
  }
  std::vector<double> rest(step_seconds.begin() + static_cast<std::ptrdiff_t>(warm_up),
                           step_seconds.end());
  for (const double seconds : rest) {
    if (!(seconds > 0.0) || !std::isfinite(seconds)) {
      return InvalidInput(fmt::format("a step took {} s; expected finite times above 0", seconds));
    }
  }
  std::sort(rest.begin(), rest.end());
  const std::size_t middle = rest.size() / 2;
  if (rest.size() % 2 == 1) return rest[middle];
  return rest[middle - 1] + (rest[middle] - rest[middle - 1]) / 2.0;
}

Result<MetricDecision> DecideThroughput(const ThroughputInput& input) {
  if (!(input.margin_fraction > 0.0) || !std::isfinite(input.margin_fraction)) {
    return InvalidInput(
        fmt::format("margin {}; expected a fraction above 0, such as 0.05", input.margin_fraction));
  }
  if (!(input.alpha_drift > 0.0) || !(input.alpha_drift < 0.25)) {
    return InvalidInput(
        fmt::format("alpha_drift {}; expected one between 0 and 0.25", input.alpha_drift));
  }
  MetricInput metric;
  metric.name = input.name;
  metric.unit = "ln s";
  metric.primary = input.primary;
  metric.history = LogSecondsByNode(input.history);
  metric.reruns = LogSecondsByNode(input.reruns);
  metric.margin = std::log1p(input.margin_fraction);
  metric.prior = input.prior;
  // One side at alpha is two sides at twice that; the other side is dropped below.
  metric.alpha_drift = 2.0 * input.alpha_drift;
  metric.alpha_equivalence = input.alpha_equivalence;
  MetricDecision decision = DecideMetric(metric);
  decision.alpha_drift = input.alpha_drift;
  const bool claims_shift = decision.verdict == MetricVerdict::kDrifted ||
                            decision.verdict == MetricVerdict::kNeedsConfirmation;
  if (claims_shift && decision.standard_error > 0.0 && decision.difference < 0.0) {
    decision.verdict = MetricVerdict::kInconclusive;
    decision.reason += decision.reason.empty() ? "faster" : ",faster";
    decision.more_reruns = 0;
  }
  return decision;
}

}  // namespace rharness
