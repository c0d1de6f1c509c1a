// Intervals for a proportion, and error-budget burn.
//
// Role: the reproducible-run rate as an indicator. Clopper-Pearson for gates (never under its
// confidence), Wilson for display, Jeffreys for evidence of burn.
// Source: Newcombe 1998 (doi:10.1002/(SICI)1097-0258(19980430)17:8<857::AID-SIM777>3.0.CO;2-E);
// Brown, Cai and DasGupta 2001 (doi:10.1214/ss/1009213286).
#ifndef RHARNESS_COMPARE_STATS_PROPORTIONS_H_
#define RHARNESS_COMPARE_STATS_PROPORTIONS_H_

#include "compare/stats/student_t.h"

namespace rharness::stats {

// Two-sided 1 - alpha intervals for x successes in n trials. Both ends NaN unless 0 <= x <= n, n >
// 0 and 0 < alpha < 1.
Interval ClopperPearson(double x, double n, double alpha);
Interval Wilson(double x, double n, double alpha);
Interval Jeffreys(double x, double n, double alpha);

// One-sided lower bound with the stated confidence.
double ClopperPearsonLower(double x, double n, double confidence);

// Fisher's exact test, one-sided: the chance of x_a or more successes of n_a when x_a + x_b of n_a
// + n_b are drawn at random. Whole counts, at most 10^6 each; else NaN. O(n). Source: Fisher 1935;
// Agresti 2013, section 3.5.
double FisherExactUpper(double x_a, double n_a, double x_b, double n_b);

// Share of bad events over the share that the objective `slo` allows. NaN when total is 0 or
// slo >= 1.
double BurnRate(double bad, double total, double slo);
// The burn rate that spends `budget_fraction` of a period's budget within a window.
double BurnRateThreshold(double budget_fraction, double window_hours, double period_hours);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_PROPORTIONS_H_
