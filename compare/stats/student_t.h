// Tests of a difference of two means: Student's pooled, Welch's and Smyth's moderated t.
//
// Role: summaries of two groups in, one MeanTest out. The difference is always a - b.
// Source: Welch 1947; Smyth 2004, section 3 (doi:10.2202/1544-6115.1027).
#ifndef RHARNESS_COMPARE_STATS_STUDENT_T_H_
#define RHARNESS_COMPARE_STATS_STUDENT_T_H_

#include "compare/stats/moments.h"

namespace rharness::stats {

struct MeanTest {
  double difference = 0.0;
  double standard_error = 0.0;
  double df = 0.0;
  double t = 0.0;            // NaN when the standard error or df is 0: then nothing was tested
  double p_two_sided = 1.0;  // NaN likewise
};

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

// A prior on the variance: knowledge worth d0 observations (df) that it is near s0_squared.
struct ScaledInverseChiSquared {
  double s0_squared = 0.0;
  double df = 0.0;  // 0: nothing is known
};

// t and p from their parts.
MeanTest MakeMeanTest(double difference, double standard_error, double df);

// Equal variances; df = n_a + n_b - 2, which must be positive.
MeanTest PooledTest(const Moments& a, const Moments& b);

// Unequal variances; both groups need two values or more, else nothing was tested (NaN).
MeanTest WelchTest(const Moments& a, const Moments& b);

// Equal variances, shrunk towards the prior:
// s~^2 = max(floor, (d0 s0^2 + SS_a + SS_b) / nu), nu = d0 + n_a + n_b - 2.
// Works at n_a = n_b = 1 because d0 supplies the degrees of freedom. d0 must be finite.
MeanTest ModeratedTest(const Moments& a, const Moments& b, const ScaledInverseChiSquared& prior,
                       double variance_floor);

// Values paired by index, the mean of x - y against zero. Sizes must agree, two pairs or more.
MeanTest PairedTest(const std::vector<double>& x, const std::vector<double>& y);

// The central 1 - alpha interval of the difference.
Interval ConfidenceInterval(const MeanTest& test, double alpha);

// Two-sided p-value of the ratio of two variances; both need df >= 1 and one must be positive, else
// NaN. One zero variance against a positive one gives 0.
double VarianceRatioP(double variance_a, double df_a, double variance_b, double df_b);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_STUDENT_T_H_
