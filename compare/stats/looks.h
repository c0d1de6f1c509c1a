// A preregistered series of looks: how much information each has, and the error it may spend.
//
// Role: shared by planning (planning.h) and by the decision at a look (compare/metrics). With n
// historical runs and k reruns so far, the information is 1 / (1/n + 1/k), in units of one over the
// variance of a run. Spending the increments as levels of their own is a union bound: it needs no
// joint distribution, so it stays valid when the degrees of freedom change between looks. The drift
// test is two-sided; each one-sided test of equivalence spends its half of twice its rate.
// Source: Lan and DeMets 1983 (doi:10.1093/biomet/70.3.659); Jennison and Turnbull 2000, chapter 7.
#ifndef RHARNESS_COMPARE_STATS_LOOKS_H_
#define RHARNESS_COMPARE_STATS_LOOKS_H_

#include <vector>

#include "harness/base/result.h"

namespace rharness::stats {

inline constexpr int kMaxReruns = 10;  // the largest k of a look

struct LookSchedule {
  std::vector<int> looks;                 // reruns at each look, increasing
  std::vector<double> information;        // at each look
  std::vector<double> fraction;           // of the last look's information; the last is 1
  std::vector<double> alpha_drift;        // level of this look's test alone
  std::vector<double> alpha_equivalence;  // likewise
  std::vector<double> spent_drift;        // up to and with this look; the last is the whole rate
  std::vector<double> spent_equivalence;
};

// Needs n >= 1, looks that increase within [1, kMaxReruns], and rates in (0, 0.5); else
// invalid_input.
Result<LookSchedule> ScheduleLooks(int n, const std::vector<int>& looks, double alpha_drift,
                                   double alpha_equivalence);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_LOOKS_H_
