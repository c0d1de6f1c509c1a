// One metric of one run, decided while its reruns come in, at looks fixed beforehand.
//
// Role: DecideMetric at a look, at that look's share of both error rates, and whether another rerun
// is worth making. Pure. The shares are increments of Lan-DeMets O'Brien-Fleming spending over
// canonical information (stats/looks.h), so all looks together stay within the stated rates.
// Source: Lan and DeMets 1983 (doi:10.1093/biomet/70.3.659); futility by conditional power under
// the current trend: Lan and Wittes 1988 (doi:10.2307/2531870).
#ifndef RHARNESS_COMPARE_METRICS_SEQUENTIAL_DECISION_H_
#define RHARNESS_COMPARE_METRICS_SEQUENTIAL_DECISION_H_

#include <string_view>
#include <vector>

#include "compare/metrics/decision.h"
#include "harness/base/result.h"

namespace rharness {

struct LookPlan {
  std::vector<int> looks = {1, 2, 3, 5};  // reruns at each look, increasing, at most 10
  double alpha_drift = 0.01;              // over all looks together
  double alpha_equivalence = 0.05;        // likewise
  double futility = 0.1;                  // stop when both conditional powers are below this
};

enum class LookAction {
  kStop,             // a verdict, or the last look
  kStopForFutility,  // no verdict in sight; continuing is allowed and costs no error
  kContinue,         // make more reruns up to the next look
};
std::string_view LookActionName(LookAction action);  // "stop", "stop_for_futility", "continue"

struct LookDecision {
  int look = 0;                       // from 1
  int k = 0;                          // reruns at this look, those without a value included
  int next_k = 0;                     // at the next look; 0: this is the last one
  double information = 0.0;           // 1 / (1/n + 1/k)
  double information_fraction = 0.0;  // of the last look's
  double spent_drift = 0.0;           // error rate used up, this look included
  double spent_equivalence = 0.0;
  // Decided at this look's shares, which are its alpha_drift and alpha_equivalence. A single rerun
  // never claims a drift: it needs confirmation by the next look.
  MetricDecision metric;
  // P(verdict at the last look | data so far), if the shift is as estimated; the deviation counts
  // as known. 1 or 0 once decided, 0 when no test was possible.
  double conditional_power_within = 0.0;
  double conditional_power_drift = 0.0;
  LookAction action = LookAction::kContinue;
};

// The input's own error rates are not used. invalid_input for an impossible plan, an empty history,
// or a number of reruns without a planned look: an unplanned look has no error left to spend.
Result<LookDecision> DecideAtLook(const MetricInput& input, const LookPlan& plan);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_METRICS_SEQUENTIAL_DECISION_H_
