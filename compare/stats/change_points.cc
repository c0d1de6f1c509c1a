// When did a series of values change its level?
#include "compare/stats/change_points.h"

#include <algorithm>
#include <cmath>

namespace rharness::stats {
namespace {

// Mean of |x[i] - x[j]|^exponent over pairs i in [a, b), j in [c, d), i < j.
double MeanDistance(const std::vector<double>& x, double exponent, std::size_t a, std::size_t b,
                    std::size_t c, std::size_t d) {
  double sum = 0.0;
  double pairs = 0.0;
  for (std::size_t i = a; i < b; ++i) {
    for (std::size_t j = std::max(c, i + 1); j < d; ++j) {
      sum += std::pow(std::fabs(x[i] - x[j]), exponent);
      pairs += 1.0;
    }
  }
  return sum / pairs;
}

}  // namespace

Cusum TabularCusum(const std::vector<double>& x, double mu, double k, double h) {
  Cusum cusum;
  double high = 0.0;
  double low = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isnan(x[i])) {
      high = std::max(0.0, high + x[i] - mu - k);
      low = std::max(0.0, low + mu - k - x[i]);
    }
    cusum.high.push_back(high);
    cusum.low.push_back(low);
    if (!cusum.first_alarm && (high > h || low > h)) cusum.first_alarm = i;
  }
  return cusum;
}

EnergySplit BestEnergySplit(const std::vector<double>& x, double exponent,
                            std::size_t min_segment) {
  EnergySplit split;
  split.first = std::max<std::size_t>(min_segment, 2);
  double best = -1.0;
  for (std::size_t at = split.first; at + split.first <= x.size(); ++at) {
    const auto left = static_cast<double>(at);
    const auto right = static_cast<double>(x.size() - at);
    const double energy = 2.0 * MeanDistance(x, exponent, 0, at, at, x.size()) -
                          MeanDistance(x, exponent, 0, at, 0, at) -
                          MeanDistance(x, exponent, at, x.size(), at, x.size());
    split.q.push_back(left * right / (left + right) * energy);
    if (split.q.back() > best) {
      best = split.q.back();
      split.best = at;
    }
  }
  return split;
}

}  // namespace rharness::stats
