// Looking more than once: Wald's test, mixture tests and spent error rates.
#include "compare/stats/sequential.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "compare/stats/distributions.h"
#include "compare/stats/quadrature.h"

namespace rharness::stats {
namespace {

double NormalDensity(double z) {
  return std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
}

// P(the sum of unit-variance increments stays inside +-bound[j] at every look j), by carrying the
// density of the surviving sums from look to look on the nodes of the quadrature.
double StayProbability(const std::vector<double>& bound) {
  static const GaussRule rule = MakeGaussRule();
  std::vector<double> at;
  std::vector<double> mass;
  for (double limit : bound) {
    std::vector<double> next_at;
    std::vector<double> next_mass;
    for (std::size_t i = 0; i < 2 * kNodes; ++i) {
      const double sign = i < kNodes ? -0.5 : 0.5;
      const double s = limit * (sign + 0.5 * rule.node[i % kNodes]);
      double density = at.empty() ? NormalDensity(s) : 0.0;
      for (std::size_t j = 0; j < at.size(); ++j) density += mass[j] * NormalDensity(s - at[j]);
      next_at.push_back(s);
      next_mass.push_back(density * rule.weight[i % kNodes] * 0.5 * limit);
    }
    at = std::move(next_at);
    mass = std::move(next_mass);
  }
  double total = 0.0;
  for (double m : mass) total += m;
  return total;
}

}  // namespace

SprtThresholds WaldThresholds(double alpha, double beta) {
  return {std::log((1.0 - beta) / alpha), std::log(beta / (1.0 - alpha))};
}

SprtLines BernoulliSprtLines(double p1, double p2, double alpha, double beta) {
  const SprtThresholds thresholds = WaldThresholds(alpha, beta);
  const double scale = std::log(p2 * (1.0 - p1) / (p1 * (1.0 - p2)));
  return {-thresholds.log_b / scale, thresholds.log_a / scale,
          std::log((1.0 - p1) / (1.0 - p2)) / scale};
}

double NormalLogLikelihoodRatio(const std::vector<double>& x, double theta0, double theta1,
                                double sigma) {
  double sum = 0.0;
  for (double value : x) sum += value - 0.5 * (theta0 + theta1);
  return sum * (theta1 - theta0) / (sigma * sigma);
}

MixtureTest NormalMixtureTest(double mean, double n, double sigma, double tau, double alpha) {
  const double variance = sigma * sigma;
  const double spread = n * tau * tau;
  const double widened = variance + spread;
  MixtureTest test;
  test.e_value = std::sqrt(variance / widened) *
                 std::exp(spread * n * mean * mean / (2.0 * variance * widened));
  test.p = std::min(1.0, 1.0 / test.e_value);
  test.interval_half_width = std::sqrt(2.0 * variance * widened / (spread * n) *
                                       std::log(std::sqrt(widened / variance) / alpha));
  return test;
}

MixtureProcess NormalMixtureProcess(const std::vector<double>& x, double mean0, double sigma,
                                    double tau, double alpha) {
  MixtureProcess process;
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += x[i] - mean0;
    const auto n = static_cast<double>(i + 1);
    const double e = NormalMixtureTest(sum / n, n, sigma, tau, alpha).e_value;
    process.e_values.push_back(e);
    process.p = std::min(process.p, std::isnan(e) ? 1.0 : 1.0 / e);
    if (!process.first_alarm && e >= 1.0 / alpha) process.first_alarm = i;
  }
  return process;
}

double LanDeMetsSpent(double t, double alpha) {
  return 2.0 * NormalCdf(NormalQuantile(alpha / 2.0) / std::sqrt(t));
}

double GroupSequentialConstant(int looks, BoundaryShape shape, double alpha) {
  if (looks < 1) return std::nan("");
  const auto gap = [&](double c) {
    std::vector<double> bound;
    for (int j = 1; j <= looks; ++j) {
      bound.push_back(c * std::sqrt(shape == BoundaryShape::kPocock ? j : looks));
    }
    return StayProbability(bound) - (1.0 - alpha);
  };
  const double single = NormalQuantile(1.0 - alpha / 2.0);
  return FindRoot(gap, 0.9 * single, single + 3.0);
}

}  // namespace rharness::stats
