// McNemar's test: do two runs err on different examples of one evaluation set?
#include "compare/stats/mcnemar.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/stats/distributions.h"

namespace rharness::stats {

McNemarResult McNemar(double b, double c) {
  if (!(b >= 0.0) || !(c >= 0.0)) return {std::nan(""), std::nan(""), std::nan("")};
  const double discordant = b + c;
  if (discordant == 0.0) return {};
  McNemarResult result;
  result.p_exact = std::min(1.0, 2.0 * BinomialCdf(std::min(b, c), discordant, 0.5));
  result.chi_squared = (b - c) * (b - c) / discordant;
  result.p_chi_squared = ChiSquaredUpper(result.chi_squared, 1.0);
  return result;
}

double TangoScore(double b, double c, double n, double difference) {
  const double d = difference;
  if (!(n > 0.0) || !(b >= 0.0) || !(c >= 0.0) || b + c > n || !(std::fabs(d) < 1.0)) {
    return std::nan("");
  }
  // The most likely share of the examples that only the first run got right, if the difference is
  // d: the positive root of 2 n q^2 - p q - b d (1 - d) = 0.
  const double p = b + c - d * (2.0 * n + b - c);
  const double inner = std::max(0.0, p * p + 8.0 * n * b * d * (1.0 - d));
  const double q = std::max({0.0, -d, (p + std::sqrt(inner)) / (4.0 * n)});
  const double variance = n * (2.0 * q + d * (1.0 - d));
  const double distance = c - b - n * d;
  if (distance == 0.0) return 0.0;
  if (variance <= 0.0) return std::copysign(std::numeric_limits<double>::infinity(), distance);
  return distance / std::sqrt(variance);
}

Interval TangoInterval(double b, double c, double n, double confidence) {
  const double limit = NormalQuantile(0.5 + confidence / 2.0);
  // The score falls as the difference grows.
  const auto where = [&](double score) {
    double low = -1.0, high = 1.0;
    for (int i = 0; i < 100; ++i) {
      const double middle = (low + high) / 2.0;
      (TangoScore(b, c, n, middle) > score ? low : high) = middle;
    }
    return (low + high) / 2.0;
  };
  return {where(limit), where(-limit)};
}

double DiscordantStandardError(double b, double c, double examples) {
  return std::sqrt(b + c) / examples;
}

}  // namespace rharness::stats
