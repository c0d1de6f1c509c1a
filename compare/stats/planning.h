// Plans reruns: how many are worth making, and their cost.
//
// Role: planning on power alone; nothing here has seen new data. Everything is in standard
// deviations of one run (sigma = 1). With looks the power of a look is that of its own test at its
// own share of the error rate: a lower bound of the chance to have decided by then.
// Source: Phillips 1990 (doi:10.1007/BF01063556), by quadrature (power.h).
#ifndef RHARNESS_COMPARE_STATS_PLANNING_H_
#define RHARNESS_COMPARE_STATS_PLANNING_H_

#include <limits>
#include <vector>

#include "harness/base/result.h"

namespace rharness::stats {

// The smallest margin that TOST with n against k runs and `prior_df` shows with this power when
// nothing changed; df = n + k - 2 + prior_df. NaN when df <= 0 or an argument is impossible.
double SmallestMargin(int n, int k, double prior_df, double alpha, double power);

// The shift that the two-sided difference test finds with this power. NaN likewise.
double DetectableShift(int n, int k, double prior_df, double alpha, double power);

struct RerunQuestion {
  int n = 0;              // historical runs
  double prior_df = 0.0;  // of the family variance, at most 30
  double delta = 0.0;     // margin in standard deviations
  double alpha_drift = 0.01;
  double alpha_equivalence = 0.05;
  double power = 0.8;
  std::vector<int> looks;            // preregistered; empty: each k on its own at the full rates
  double gpu_hours_per_rerun = 0.0;  // 0: not known
  double budget_gpu_hours = std::numeric_limits<double>::infinity();
};

struct PlannedLook {
  int k = 0;
  double information_fraction = 1.0;  // of the last look; 1 without looks
  double alpha_drift = 0.0;           // as applied to this look
  double alpha_equivalence = 0.0;     // as applied; without looks halved at k = 1, as decided later
  double df = 0.0;
  double power = 0.0;             // of showing equivalence if nothing changed
  double smallest_margin = 0.0;   // shown with the wanted power, standard deviations
  double detectable_shift = 0.0;  // found with the wanted power, standard deviations
  double gpu_hours = 0.0;
  bool affordable = true;
};

struct RerunPlan {
  std::vector<PlannedLook> looks;  // k = 1 .. 10, or the preregistered ones
  int k = 0;                       // the smallest that has the power; 0: none
  double power = 0.0;              // at k, or at the last look
  double gpu_hours = 0.0;          // of k reruns, or of all looks
  bool within_budget = false;      // k is not 0 and its cost is within the budget
};

// invalid_input for impossible arguments, and if df <= 0: then no number is known.
Result<RerunPlan> PlanReruns(const RerunQuestion& question);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_PLANNING_H_
