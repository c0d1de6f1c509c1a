// McNemar's test: do two runs err on different examples of one evaluation set?
//
// Source: McNemar 1947 (doi:10.1007/BF02295996); Tango 1998
// (doi:10.1002/(SICI)1097-0258(19980430)17:8<891::AID-SIM780>3.0.CO;2-B) for the size of the
// difference.
#ifndef RHARNESS_COMPARE_STATS_MCNEMAR_H_
#define RHARNESS_COMPARE_STATS_MCNEMAR_H_

#include "compare/stats/student_t.h"

namespace rharness::stats {

struct McNemarResult {
  double p_exact = 1.0;      // binomial, two-sided
  double chi_squared = 0.0;  // without continuity correction
  double p_chi_squared = 1.0;
};

// b and c: examples that only the first and only the second run got right. b = c = 0 gives p = 1,
// which is no evidence of anything. Negative counts give NaN.
McNemarResult McNemar(double b, double c);

// Tango's score statistic of "the second run's share of right answers is higher by `difference`",
// of n examples; about standard normal, positive where the observed difference (c - b) / n is
// larger. -1 < difference < 1. NaN if n is not positive or smaller than b + c; infinite where the
// data rule the difference out.
double TangoScore(double b, double c, double n, double difference);

// The differences that the score test does not reject at (1 - confidence) / 2 on either side.
Interval TangoInterval(double b, double c, double n, double confidence);

// sqrt(b + c) / N: a lower bound on the standard deviation of the difference of two accuracies.
double DiscordantStandardError(double b, double c, double examples);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_MCNEMAR_H_
