// Time to target: how many samples a run needs to reach its quality, and whether that has changed.
#include "compare/metrics/time_to_target.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

#include "compare/stats/moments.h"
#include "compare/stats/proportions.h"

namespace rharness {
namespace {

// Logarithms of those that arrived; counts the others.
Result<std::vector<double>> LogSamples(const std::vector<std::optional<double>>& runs,
                                       int* censored) {
  std::vector<double> logs;
  for (const std::optional<double>& samples : runs) {
    if (!samples.has_value()) {
      ++*censored;
      continue;
    }
    if (!(*samples > 0.0) || !std::isfinite(*samples)) {
      return InvalidInput(
          fmt::format("a run took {} samples; expected a finite count above 0", *samples));
    }
    logs.push_back(std::log(*samples));
  }
  return logs;
}

Status CheckInput(const TimeToTargetInput& input) {
  if (!(input.margin_fraction > 0.0) || !std::isfinite(input.margin_fraction)) {
    return InvalidInput(
        fmt::format("margin {}; expected a fraction above 0, such as 0.1", input.margin_fraction));
  }
  if (!(input.eval_interval >= 0.0) || !std::isfinite(input.eval_interval)) {
    return InvalidInput(
        fmt::format("evaluation interval {}; expected 0 or more samples", input.eval_interval));
  }
  return {};
}

void DecideCensored(const TimeToTargetInput& input, TimeToTargetDecision* decision) {
  MetricDecision& metric = decision->metric;
  const auto n = static_cast<double>(input.history.size());
  const auto k = static_cast<double>(input.reruns.size());
  decision->p_censored = n > 0.0 && k > 0.0 ? stats::FisherExactUpper(decision->censored_reruns, k,
                                                                      decision->censored_history, n)
                                            : 1.0;
  metric.verdict = MetricVerdict::kInconclusive;
  metric.more_reruns = 0;
  metric.reason = decision->censored_reruns > 0 ? "censored" : "censored_history";
  if (decision->censored_reruns == 0) return;
  if (input.reruns.size() == 1) {
    if (decision->censored_history > 0 || input.history.empty()) return;
    metric.verdict = MetricVerdict::kNeedsConfirmation;
    metric.more_reruns = 1;
  } else if (decision->p_censored < input.alpha_drift) {
    metric.verdict = MetricVerdict::kDrifted;
  }
}

}  // namespace

Result<std::optional<double>> SamplesToTarget(const std::vector<double>& samples,
                                              const std::vector<double>& values, double target,
                                              bool higher_is_better) {
  if (samples.size() != values.size() || samples.empty()) {
    return InvalidInput(fmt::format("{} sample counts and {} values; expected as many, and some",
                                    samples.size(), values.size()));
  }
  double previous = 0.0;
  for (const double count : samples) {
    if (!(count > previous) || !std::isfinite(count)) {
      return InvalidInput(
          fmt::format("{} samples after {}; expected counts that increase from "
                      "above 0",
                      count, previous));
    }
    previous = count;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool reached = higher_is_better ? values[i] >= target : values[i] <= target;
    if (reached && std::isfinite(values[i])) return std::optional<double>(samples[i]);
  }
  return std::optional<double>();
}

Result<TimeToTargetDecision> DecideTimeToTarget(const TimeToTargetInput& input) {
  RETURN_IF_ERROR(CheckInput(input));
  TimeToTargetDecision decision;
  MetricInput metric;
  metric.name = input.name;
  metric.unit = "ln samples";
  metric.primary = input.primary;
  ASSIGN_OR_RETURN(metric.history, LogSamples(input.history, &decision.censored_history));
  ASSIGN_OR_RETURN(metric.reruns, LogSamples(input.reruns, &decision.censored_reruns));
  metric.margin = std::log1p(input.margin_fraction);
  // One interval, relative to the usual time, is the resolution of a logarithm.
  const double usual = std::exp(stats::ComputeMoments(metric.history).mean);
  metric.quantum = input.eval_interval / usual;
  metric.prior = input.prior;
  metric.alpha_drift = input.alpha_drift;
  metric.alpha_equivalence = input.alpha_equivalence;
  decision.metric = DecideMetric(metric);
  if (decision.censored_history + decision.censored_reruns > 0) DecideCensored(input, &decision);
  return decision;
}

}  // namespace rharness
