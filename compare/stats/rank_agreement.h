// Agreement of two rankings of the same things: Kendall's tau-b with an interval.
//
// Sources: M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945) 239,
// for tau-b; E. C. Fieller, H. O. Hartley, E. S. Pearson, "Tests for rank correlation coefficients.
// I", Biometrika 44 (1957) 470, for the interval: atanh(tau) has about the variance 0.437 / (n -
// 4). The things count as a sample of those that could have been ranked. A tau of 1 or -1 has no
// atanh: the interval's inner end is then that of half a discordant pair, its outer end the value.
#ifndef RHARNESS_COMPARE_STATS_RANK_AGREEMENT_H_
#define RHARNESS_COMPARE_STATS_RANK_AGREEMENT_H_

#include <vector>

namespace rharness::stats {

struct RankAgreement {
  double tau = 0.0;  // tau-b: 1 the same ranking, -1 the opposite one
  double low = 0.0;  // of the interval
  double high = 0.0;
};

// For things that were measured twice, in the same order in `x` and `y`. All three are NaN for
// fewer than two, unequal sizes, a NaN, or if all values of one side are equal; the interval also
// for fewer than five. `confidence`: of both sides together. O(n^2).
RankAgreement KendallTauB(const std::vector<double>& x, const std::vector<double>& y,
                          double confidence);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_RANK_AGREEMENT_H_
