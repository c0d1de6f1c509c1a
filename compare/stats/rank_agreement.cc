// Concordant and discordant pairs.
#include "compare/stats/rank_agreement.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/stats/distributions.h"

namespace rharness::stats {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr double kVariance = 0.437;  // of atanh(tau), times n - 4
constexpr double kFewest = 5;

struct Pairs {
  double score = 0.0;  // concordant less discordant ones
  double untied_x = 0.0;
  double untied_y = 0.0;
};

Pairs CountPairs(const std::vector<double>& x, const std::vector<double>& y) {
  const auto sign = [](double a, double b) { return static_cast<double>((a > b) - (a < b)); };
  Pairs pairs;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i + 1; j < x.size(); ++j) {
      const double way_x = sign(x[i], x[j]);
      const double way_y = sign(y[i], y[j]);
      pairs.score += way_x * way_y;
      pairs.untied_x += std::abs(way_x);
      pairs.untied_y += std::abs(way_y);
    }
  }
  return pairs;
}

}  // namespace

RankAgreement KendallTauB(const std::vector<double>& x, const std::vector<double>& y,
                          double confidence) {
  RankAgreement agreement{kNotKnown, kNotKnown, kNotKnown};
  const auto known = [](double value) { return !std::isnan(value); };
  if (x.size() != y.size() || !std::ranges::all_of(x, known) || !std::ranges::all_of(y, known)) {
    return agreement;
  }
  const Pairs pairs = CountPairs(x, y);
  const double most = std::sqrt(pairs.untied_x * pairs.untied_y);
  if (most <= 0.0) return agreement;
  const double tau = std::clamp(pairs.score / most, -1.0, 1.0);
  agreement.tau = tau;
  const auto n = static_cast<double>(x.size());
  if (n < kFewest) return agreement;
  const double inner = 1.0 - 1.0 / most;  // half a pair
  const double around = std::atanh(std::clamp(tau, -inner, inner));
  const double half = NormalQuantile(0.5 + confidence / 2.0) * std::sqrt(kVariance / (n - 4.0));
  agreement.low = tau <= -inner ? tau : std::tanh(around - half);
  agreement.high = tau >= inner ? tau : std::tanh(around + half);
  return agreement;
}

}  // namespace rharness::stats
