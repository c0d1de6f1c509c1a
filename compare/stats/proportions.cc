// Intervals for a proportion, and error-budget burn.
#include "compare/stats/proportions.h"

#include <algorithm>
#include <cmath>

#include "compare/stats/distributions.h"

namespace rharness::stats {
namespace {

bool IsCount(double x, double n, double alpha) {
  return n > 0.0 && x >= 0.0 && x <= n && alpha > 0.0 && alpha < 1.0;
}

Interval NoInterval() { return {std::nan(""), std::nan("")}; }

}  // namespace

Interval ClopperPearson(double x, double n, double alpha) {
  if (!IsCount(x, n, alpha)) return NoInterval();
  return {x > 0.0 ? BetaQuantile(alpha / 2.0, x, n - x + 1.0) : 0.0,
          x < n ? BetaQuantile(1.0 - alpha / 2.0, x + 1.0, n - x) : 1.0};
}

Interval Wilson(double x, double n, double alpha) {
  if (!IsCount(x, n, alpha)) return NoInterval();
  const double z = NormalQuantile(1.0 - alpha / 2.0);
  const double rate = x / n;
  const double scale = 1.0 + z * z / n;
  const double centre = (rate + z * z / (2.0 * n)) / scale;
  const double half = z * std::sqrt(rate * (1.0 - rate) / n + z * z / (4.0 * n * n)) / scale;
  return {x > 0.0 ? std::max(0.0, centre - half) : 0.0, x < n ? std::min(1.0, centre + half) : 1.0};
}

Interval Jeffreys(double x, double n, double alpha) {
  if (!IsCount(x, n, alpha)) return NoInterval();
  return {BetaQuantile(alpha / 2.0, x + 0.5, n - x + 0.5),
          BetaQuantile(1.0 - alpha / 2.0, x + 0.5, n - x + 0.5)};
}

double ClopperPearsonLower(double x, double n, double confidence) {
  return ClopperPearson(x, n, 2.0 * (1.0 - confidence)).low;
}

double FisherExactUpper(double x_a, double n_a, double x_b, double n_b) {
  constexpr double kMostEvents = 1e6;
  for (const double count : {x_a, n_a, x_b, n_b}) {
    if (!(count >= 0.0) || count > kMostEvents || count != std::floor(count)) return std::nan("");
  }
  if (x_a > n_a || x_b > n_b || n_a + n_b < 1.0) return std::nan("");
  const auto log_choose = [](double n, double k) {
    return LogGamma(n + 1.0) - LogGamma(k + 1.0) - LogGamma(n - k + 1.0);
  };
  const double successes = x_a + x_b;
  const double all = log_choose(n_a + n_b, successes);
  double p = 0.0;
  for (double x = x_a; x <= std::min(n_a, successes); x += 1.0) {
    if (successes - x <= n_b)
      p += std::exp(log_choose(n_a, x) + log_choose(n_b, successes - x) - all);
  }
  return std::min(1.0, p);
}

double BurnRate(double bad, double total, double slo) {
  return total > 0.0 && slo < 1.0 ? bad / total / (1.0 - slo) : std::nan("");
}

double BurnRateThreshold(double budget_fraction, double window_hours, double period_hours) {
  return budget_fraction * period_hours / window_hours;
}

}  // namespace rharness::stats
