// One metric of one run, decided while its reruns come in: looks that were fixed beforehand.
#include "compare/metrics/sequential_decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "compare/stats/distributions.h"
#include "compare/stats/looks.h"

namespace rharness {
namespace {

struct Trend {
  double mean = 0.0;       // of the final difference, given the data so far
  double deviation = 0.0;  // of the final difference around that
};

// Under the current trend the final difference is expected at the present one; the remaining reruns
// scatter it.
Trend FinalDifference(const MetricDecision& metric, double information, double last_information) {
  const double rest = std::max(0.0, last_information - information);
  return {metric.difference, metric.standard_deviation * std::sqrt(rest) / last_information};
}

double ProbabilityBetween(const Trend& trend, double low, double high) {
  if (!(high > low)) return 0.0;
  if (!(trend.deviation > 0.0)) return low < trend.mean && trend.mean < high ? 1.0 : 0.0;
  return stats::NormalCdf((high - trend.mean) / trend.deviation) -
         stats::NormalCdf((low - trend.mean) / trend.deviation);
}

void SetConditionalPowers(const stats::LookSchedule& schedule, LookDecision* decision) {
  const MetricDecision& metric = decision->metric;
  if (!(metric.standard_error > 0.0)) return;
  const double last_information = schedule.information.back();
  const Trend trend = FinalDifference(metric, decision->information, last_information);
  const double df = metric.df + (schedule.looks.back() - decision->k);
  const double final_error = metric.standard_deviation / std::sqrt(last_information);
  const double accept =
      metric.margin -
      stats::StudentTQuantile(1.0 - schedule.alpha_equivalence.back(), df) * final_error;
  const double reject =
      stats::StudentTQuantile(1.0 - schedule.alpha_drift.back() / 2.0, df) * final_error;
  decision->conditional_power_within = ProbabilityBetween(trend, -accept, accept);
  decision->conditional_power_drift = 1.0 - ProbabilityBetween(trend, -reject, reject);
}

void SetAction(const LookPlan& plan, LookDecision* decision) {
  const MetricVerdict verdict = decision->metric.verdict;
  const bool within = verdict == MetricVerdict::kWithin;
  const bool drifted = verdict == MetricVerdict::kDrifted;
  if (within || drifted) {
    decision->conditional_power_within = within ? 1.0 : 0.0;
    decision->conditional_power_drift = drifted ? 1.0 : 0.0;
  }
  const bool futile = decision->conditional_power_within < plan.futility &&
                      decision->conditional_power_drift < plan.futility;
  if (within || drifted || decision->next_k == 0) {
    decision->action = LookAction::kStop;
  } else if (futile && verdict != MetricVerdict::kNeedsConfirmation) {
    decision->action = LookAction::kStopForFutility;
  } else {
    decision->action = LookAction::kContinue;
  }
  decision->metric.more_reruns =
      decision->action == LookAction::kContinue ? decision->next_k - decision->k : 0;
}

}  // namespace

std::string_view LookActionName(LookAction action) {
  switch (action) {
    case LookAction::kStop:
      return "stop";
    case LookAction::kStopForFutility:
      return "stop_for_futility";
    case LookAction::kContinue:
      break;
  }
  return "continue";
}

Result<LookDecision> DecideAtLook(const MetricInput& input, const LookPlan& plan) {
  ASSIGN_OR_RETURN(const stats::LookSchedule schedule,
                   stats::ScheduleLooks(static_cast<int>(input.history.size()), plan.looks,
                                        plan.alpha_drift, plan.alpha_equivalence));
  if (!(plan.futility >= 0.0) || !(plan.futility < 1.0)) {
    return InvalidInput(fmt::format("futility {}; expected 0 to below 1", plan.futility));
  }
  const int k = static_cast<int>(input.reruns.size()) + std::max(0, input.missing);
  const auto planned = std::find(plan.looks.begin(), plan.looks.end(), k);
  if (planned == plan.looks.end()) {
    return InvalidInput(fmt::format("{} reruns, but no look was planned there; expected one of {}",
                                    k, fmt::join(plan.looks, ", ")));
  }
  const auto at = static_cast<std::size_t>(planned - plan.looks.begin());
  LookDecision decision;
  decision.look = static_cast<int>(at) + 1;
  decision.k = k;
  decision.next_k = at + 1 < plan.looks.size() ? plan.looks[at + 1] : 0;
  decision.information = schedule.information[at];
  decision.information_fraction = schedule.fraction[at];
  decision.spent_drift = schedule.spent_drift[at];
  decision.spent_equivalence = schedule.spent_equivalence[at];
  MetricInput at_look = input;
  at_look.alpha_drift = schedule.alpha_drift[at];
  // The share is this look's budget; DecideMetric would halve it once more at one rerun.
  at_look.alpha_equivalence =
      schedule.alpha_equivalence[at] * (input.reruns.size() == 1 ? 2.0 : 1.0);
  decision.metric = DecideMetric(at_look);
  SetConditionalPowers(schedule, &decision);
  SetAction(plan, &decision);
  return decision;
}

}  // namespace rharness
