// The share of runs that reproduce, as a service indicator, and the burn of its error budget.
//
// Role: counts of verdicts of distinct, randomly chosen runs in, rates with intervals out. Repeated
// checks of one run are not new evidence and must be counted once. Pure.
// Source: stats/proportions.h; Google SRE Workbook, chapter 5 (windows scaled to rerun volume);
// Rogan and Gladen 1978 (doi:10.1093/oxfordjournals.aje.a112510) for misclassification.
#ifndef RHARNESS_COMPARE_METRICS_REPRODUCIBLE_RATE_H_
#define RHARNESS_COMPARE_METRICS_REPRODUCIBLE_RATE_H_

#include "compare/stats/student_t.h"
#include "harness/base/result.h"

namespace rharness {

struct VerdictCounts {
  int good = 0;          // identical or equivalent
  int bad = 0;           // drifted
  int inconclusive = 0;  // neither shown
};

struct ReproducibleRate {
  double rate = 0.0;               // good / (good + bad)
  stats::Interval wilson;          // 95 %, for display
  double lower_bound = 0.0;        // one-sided 95 % Clopper-Pearson, for gates
  double inconclusive_rate = 0.0;  // of all; show it beside the rate, or the rate can be gamed
  double worst_case_rate = 0.0;    // inconclusive counted as bad
  double worst_case_lower_bound = 0.0;
  // Of truly bad runs, when good ones are called bad with probability alpha_drift; within [0, 1].
  double corrected_bad_rate = 0.0;
};

// invalid_input for negative counts, no conclusive run, or alpha_drift outside [0, 0.5).
Result<ReproducibleRate> RateOf(const VerdictCounts& counts, double alpha_drift);

// One of the two alarms over a 28-day period. Both its windows must burn.
struct BurnAlarm {
  double long_hours = 24.0;
  double short_hours = 6.0;
  double budget_fraction = 0.10;  // of the period's budget, spent within long_hours
};
inline constexpr double kBurnPeriodHours = 28.0 * 24.0;
inline constexpr BurnAlarm kPageAlarm{24.0, 6.0, 0.10};
inline constexpr BurnAlarm kTicketAlarm{7.0 * 24.0, 24.0, 0.25};
inline constexpr int kFewestBurnChecks = 5;

struct BurnDecision {
  double threshold = 0.0;  // burn rate: 2.8 to page, 1 for a ticket
  double long_burn = 0.0;  // burn rates observed; 0 without conclusive checks
  double short_burn = 0.0;
  double long_lower = 0.0;     // Jeffreys 95 % lower bound of the bad rate
  bool enough_checks = false;  // five conclusive ones or more in the long window
  bool fires = false;
};

// Fires with enough checks in the long window, when the lower bound of its bad rate exceeds
// threshold * (1 - slo) and the short window burns above the threshold, too. invalid_input for
// impossible counts and an slo outside (0, 1).
Result<BurnDecision> DecideBurn(const BurnAlarm& alarm, double slo,
                                const VerdictCounts& long_window,
                                const VerdictCounts& short_window);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_METRICS_REPRODUCIBLE_RATE_H_
