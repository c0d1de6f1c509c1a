// Tests of a difference of two means: Student's pooled, Welch's and Smyth's moderated t.
#include "compare/stats/student_t.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "compare/stats/distributions.h"

namespace rharness::stats {
namespace {

constexpr double kUntestable = std::numeric_limits<double>::quiet_NaN();

}  // namespace

MeanTest MakeMeanTest(double difference, double standard_error, double df) {
  MeanTest test{difference, standard_error, df, kUntestable, kUntestable};
  if (standard_error > 0.0 && df > 0.0) {
    test.t = difference / standard_error;
    test.p_two_sided = StudentTTwoSided(test.t, df);
  }
  return test;
}

MeanTest PooledTest(const Moments& a, const Moments& b) { return ModeratedTest(a, b, {}, 0.0); }

MeanTest WelchTest(const Moments& a, const Moments& b) {
  const double difference = a.mean - b.mean;
  if (a.count < 2.0 || b.count < 2.0) return MakeMeanTest(difference, kUntestable, kUntestable);
  const double share_a = a.Variance() / a.count;
  const double share_b = b.Variance() / b.count;
  const double total = share_a + share_b;
  const double df =
      total * total / (share_a * share_a / (a.count - 1.0) + share_b * share_b / (b.count - 1.0));
  return MakeMeanTest(difference, std::sqrt(total), df);
}

MeanTest ModeratedTest(const Moments& a, const Moments& b, const ScaledInverseChiSquared& prior,
                       double variance_floor) {
  const double difference = a.mean - b.mean;
  if (a.count < 1.0 || b.count < 1.0) return MakeMeanTest(kUntestable, kUntestable, kUntestable);
  const double df = prior.df + a.count + b.count - 2.0;
  if (!(df > 0.0)) return MakeMeanTest(difference, kUntestable, 0.0);
  const double sum = prior.df * prior.s0_squared + a.sum_of_squares + b.sum_of_squares;
  if (!std::isfinite(sum)) return MakeMeanTest(difference, kUntestable, df);
  const double variance = std::max(variance_floor, sum / df);
  return MakeMeanTest(difference, std::sqrt(variance * (1.0 / a.count + 1.0 / b.count)), df);
}

MeanTest PairedTest(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() != y.size() || x.size() < 2)
    return MakeMeanTest(kUntestable, kUntestable, kUntestable);
  std::vector<double> differences(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) differences[i] = x[i] - y[i];
  const Moments moments = ComputeMoments(differences);
  return MakeMeanTest(moments.mean, std::sqrt(moments.Variance() / moments.count),
                      moments.count - 1.0);
}

Interval ConfidenceInterval(const MeanTest& test, double alpha) {
  const double half = StudentTQuantile(1.0 - alpha / 2.0, test.df) * test.standard_error;
  return {test.difference - half, test.difference + half};
}

double VarianceRatioP(double variance_a, double df_a, double variance_b, double df_b) {
  if (!(df_a >= 1.0) || !(df_b >= 1.0) || !(variance_a + variance_b > 0.0)) return kUntestable;
  const double one_way = FisherFUpper(variance_a / variance_b, df_a, df_b);
  const double other_way = FisherFUpper(variance_b / variance_a, df_b, df_a);
  return std::min(1.0, 2.0 * std::min(one_way, other_way));
}

}  // namespace rharness::stats
