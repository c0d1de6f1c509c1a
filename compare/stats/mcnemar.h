// McNemar's test: do two runs err on different examples of one evaluation set?
//
// Source: McNemar 1947 (doi:10.1007/BF02295996).
#ifndef RHARNESS_COMPARE_STATS_MCNEMAR_H_
#define RHARNESS_COMPARE_STATS_MCNEMAR_H_

namespace rharness::stats {

struct McNemarResult {
  double p_exact = 1.0;      // binomial, two-sided
  double chi_squared = 0.0;  // without continuity correction
  double p_chi_squared = 1.0;
};

// b and c: examples that only the first and only the second run got right. b = c = 0 gives p = 1,
// which is no evidence of anything. Negative counts give NaN.
McNemarResult McNemar(double b, double c);

// sqrt(b + c) / N: a lower bound on the standard deviation of the difference of two accuracies.
double DiscordantStandardError(double b, double c, double examples);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_MCNEMAR_H_
