// When did a series of values change its level?
#include "compare/stats/change_points.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

namespace rharness::stats {
namespace {

// |x[i] - x[j]|^exponent for all pairs.
class Distances {
 public:
  Distances(const std::vector<double>& x, double exponent) : size_(x.size()), of_(size_ * size_) {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        of_[i * size_ + j] = of_[j * size_ + i] = std::pow(std::fabs(x[i] - x[j]), exponent);
      }
    }
  }
  double Of(std::size_t i, std::size_t j) const { return of_[i * size_ + j]; }

 private:
  std::size_t size_;
  std::vector<double> of_;
};

// The statistic of every split of the values in this order. Each value's distances to those before
// it and to those after it, summed up along the order, give the distances within both parts.
EnergySplit SplitInOrder(const Distances& distances, const std::vector<std::size_t>& order,
                         std::size_t min_segment) {
  const std::size_t n = order.size();
  std::vector<double> before(n, 0.0);
  double total = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) before[i] += distances.Of(order[i], order[j]);
    total += before[i];
  }
  std::vector<double> right_of(n + 1, 0.0);  // distances within the values from i on
  for (std::size_t i = n; i-- > 0;) {
    double after = 0.0;
    for (std::size_t j = i + 1; j < n; ++j) after += distances.Of(order[i], order[j]);
    right_of[i] = right_of[i + 1] + after;
  }
  EnergySplit split;
  split.first = std::max<std::size_t>(min_segment, 2);
  double within_left = 0.0;
  double best = -1.0;
  for (std::size_t at = 1; at + split.first <= n; ++at) {
    within_left += before[at - 1];
    if (at < split.first) continue;
    const auto left = static_cast<double>(at);
    const auto right = static_cast<double>(n - at);
    const double across = total - within_left - right_of[at];
    const double energy = 2.0 * across / (left * right) -
                          within_left / (left * (left - 1.0) / 2.0) -
                          right_of[at] / (right * (right - 1.0) / 2.0);
    split.q.push_back(left * right / (left + right) * energy);
    if (split.q.back() > best) {
      best = split.q.back();
      split.best = at;
    }
  }
  return split;
}

std::vector<std::size_t> Identity(std::size_t size) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

// Fisher and Yates, with a remainder whose bias is below 2^-40 here; equal with every library.
void Shuffle(std::mt19937_64* engine, std::vector<std::size_t>* order) {
  for (std::size_t i = order->size(); i > 1; --i) {
    std::swap((*order)[i - 1], (*order)[static_cast<std::size_t>((*engine)() % i)]);
  }
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
  return SplitInOrder(Distances(x, exponent), Identity(x.size()), min_segment);
}

double EnergySplitPermutationP(const std::vector<double>& x, double exponent,
                               std::size_t min_segment, int permutations, std::uint64_t seed) {
  const Distances distances(x, exponent);
  std::vector<std::size_t> order = Identity(x.size());
  const auto best = [&] {
    const EnergySplit split = SplitInOrder(distances, order, min_segment);
    return split.q.empty() ? -1.0 : *std::max_element(split.q.begin(), split.q.end());
  };
  const double observed = best();
  if (observed < 0.0) return 1.0;
  // Equal orders sum their distances in another sequence: a last digit is no difference.
  const double reached = observed * (1.0 - 1e-12);
  std::mt19937_64 engine(seed);
  int as_good = 1;
  for (int i = 0; i < permutations; ++i) {
    Shuffle(&engine, &order);
    if (best() >= reached) ++as_good;
  }
  return static_cast<double>(as_good) / (permutations + 1.0);
}

}  // namespace rharness::stats
