// A driver upgrade over a fleet: did it move the runs, and which ones?
//
// Role: one rerun of each of many runs under the new driver. (a) A shared shift, in standard
// deviations of a run; (b) single runs that moved, to be confirmed by one rerun each. Pure. Runs,
// and their seeds, must have been chosen at random, stratified by family; without reruns under the
// old driver at the same time, time and not the driver may cause a shift. Source:
// stats/random_effects.h; Benjamini and Hochberg 1995.
#ifndef RHARNESS_COMPARE_METRICS_FLEET_SHIFT_H_
#define RHARNESS_COMPARE_METRICS_FLEET_SHIFT_H_

#include <string>
#include <string_view>
#include <vector>

#include "compare/metrics/decision.h"

namespace rharness {

struct FleetRun {
  std::string run_id;
  double shift = 0.0;     // (reruns - history) / s~, positive is better
  double variance = 0.0;  // 1/n + 1/k
  double p = 1.0;         // two-sided, of this run alone
};

// From a run's metric. A run whose metric was not tested has variance 0 and is left out of the
// shared shift and counted; a non-finite rerun has p = 0.
FleetRun FleetRunOf(std::string run_id, const MetricDecision& decision, bool higher_is_better);

struct FleetSettings {
  double alpha_drift = 0.01;
  double alpha_equivalence = 0.05;
  double margin = 0.5;  // of the shared shift, standard deviations of a run
  double false_discovery_rate = 0.05;
};

// A mean over runs with the Hartung-Knapp-Sidik-Jonkman standard error on R - 1 df; with equal
// variances this is the one-sample t test.
struct SharedShift {
  int runs = 0;
  double mean = 0.0;
  double standard_error = 0.0;
  double tau_squared = 0.0;  // between runs, truncated at 0
  double df = 0.0;
  double t = 0.0;
  double p = 1.0;
  double ci_low = 0.0;  // 1 - 2 alpha_equivalence
  double ci_high = 0.0;
};

struct FleetShift {
  MetricVerdict verdict = MetricVerdict::kInconclusive;
  // "", "too_few_runs" (below 3), "no_controls", "time_shift" (the controls moved, so the
  // difference of the two groups was tested), "detectable_shift", "material"; joined by commas.
  std::string reason;
  std::string_view method;  // "one_sample_t", "random_effects_hksj", "welch_against_controls"
  SharedShift shift;        // under the new driver
  SharedShift controls;     // under the old one, now; runs = 0: none
  SharedShift decided;      // the basis of the verdict
  int left_out = 0;         // runs that could not be tested
  std::vector<double> adjusted_p;       // Benjamini-Hochberg, in the order of the runs
  std::vector<std::string> to_confirm;  // flagged: each needs one more rerun
};

FleetShift DecideFleetShift(const std::vector<FleetRun>& runs,
                            const std::vector<FleetRun>& controls, const FleetSettings& settings);

// After its one more rerun a flagged run has drifted iff DecideMetric on all its reruns says so; a
// single rerun never does.
bool IsConfirmed(const MetricDecision& with_confirming_rerun);

// Runs needed to find a shared shift of `mu` standard deviations with this power, when each has the
// variance 1/n + 1/k and they scatter by tau^2 around it: the normal approximation, and with t on
// R - 1 df. 0 when 10^6 are not enough or an argument is impossible.
struct FleetSize {
  int normal = 0;
  int student = 0;
};
FleetSize PlanFleet(double mu, double variance, double tau_squared, double alpha, double power);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_METRICS_FLEET_SHIFT_H_
