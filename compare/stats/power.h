// The power of a test, and the number of runs for a wanted power.
//
// Role: planning, and the power statement that goes with every decision. All by one-dimensional
// quadrature over the distribution of the estimated standard deviation; exact to about 1e-9.
// Source: Phillips 1990 (doi:10.1007/BF01063556); Owen 1965 (doi:10.1093/biomet/52.3-4.437).
#ifndef RHARNESS_COMPARE_STATS_POWER_H_
#define RHARNESS_COMPARE_STATS_POWER_H_

#include <optional>

namespace rharness::stats {

// P(TOST at level alpha shows |difference| < delta) when the true difference is theta and its
// estimate has the true standard error `se`, estimated with df degrees of freedom. 0 <= df; NaN or
// impossible arguments give 0.
double TostPower(double delta, double theta, double se, double df, double alpha);

// P(|t| is significant at two-sided alpha) at a true difference of `noncentrality` standard errors.
double TwoSidedPower(double noncentrality, double df, double alpha);

// The noncentrality at which TwoSidedPower is `power`: the minimum detectable difference in
// standard errors. NaN unless alpha < power < 1 and df > 0.
double DetectableNoncentrality(double df, double alpha, double power);

struct SampleSize {
  int k = 0;
  double power = 0.0;
};

// Smallest k (up to max_k) new runs against n historical ones with the stated TOST power at
// theta = 0. sigma = 1, so delta is in standard deviations; df = n + k - 2 + prior_df.
std::optional<SampleSize> TostSampleSize(int n, double prior_df, double delta, double alpha,
                                         double power, int max_k);

// The same with n = k: runs per arm, no prior.
std::optional<SampleSize> TostSampleSizeBalanced(double delta, double alpha, double power,
                                                 int max_k);

// Runs per arm, as a real number, for a two-sided two-sample t test to find a shift of d standard
// deviations; at least 2. NaN when d is not positive.
double TwoSampleSize(double d, double alpha, double power);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_POWER_H_
