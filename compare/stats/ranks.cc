// Distributions of ranks, by recursion over the values.
#include "compare/stats/ranks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "compare/stats/distributions.h"

namespace rharness::stats {
namespace {

constexpr std::size_t kMaxSize = 100;
constexpr std::size_t kMaxSigned = 200;

// Twice the mean ranks of the sizes, which are whole numbers; values are sorted by size.
std::vector<std::size_t> DoubledRanks(const std::vector<double>& values) {
  std::vector<std::size_t> ranks(values.size());
  for (std::size_t first = 0; first < values.size();) {
    std::size_t last = first;
    while (last + 1 < values.size() && std::fabs(values[last + 1]) == std::fabs(values[first])) {
      ++last;
    }
    for (std::size_t i = first; i <= last; ++i) ranks[i] = first + last + 2;
    first = last + 1;
  }
  return ranks;
}

// P(sum of the ranks with one sign <= `sum`), each sign as likely as the other.
double SignedRankCdf(const std::vector<std::size_t>& ranks, std::size_t sum) {
  std::vector<double> share(sum + 1, 0.0);
  share[0] = 1.0;
  for (const std::size_t rank : ranks) {
    for (std::size_t at = sum + 1; at-- > 0;) {
      share[at] = 0.5 * (share[at] + (at >= rank ? share[at - rank] : 0.0));
    }
  }
  return std::accumulate(share.begin(), share.end(), 0.0);
}

// The distribution of U for n against m values, over 0 .. n m. The largest value of all belongs to
// either sample with probability n / (n + m) or m / (n + m); in x it exceeds all m of y.
std::vector<double> UDistribution(std::size_t n, std::size_t m) {
  std::vector<std::vector<double>> row(m + 1, std::vector<double>{1.0});
  for (std::size_t i = 1; i <= n; ++i) {
    std::vector<std::vector<double>> next(m + 1, std::vector<double>{1.0});
    for (std::size_t j = 1; j <= m; ++j) {
      next[j].assign(i * j + 1, 0.0);
      const double share = static_cast<double>(i) / static_cast<double>(i + j);
      for (std::size_t u = 0; u < row[j].size(); ++u) next[j][u + j] += share * row[j][u];
      for (std::size_t u = 0; u < next[j - 1].size(); ++u) {
        next[j][u] += (1.0 - share) * next[j - 1][u];
      }
    }
    row = std::move(next);
  }
  return row[m];
}

}  // namespace

MannWhitneyResult MannWhitneyExact(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.empty() || y.empty() || x.size() > kMaxSize || y.size() > kMaxSize) {
    return {std::nan(""), std::nan("")};
  }
  std::size_t u = 0;
  for (double a : x) {
    for (double b : y) {
      if (!(a < b || a > b)) return {std::nan(""), std::nan("")};
      if (a > b) ++u;
    }
  }
  const std::vector<double> distribution = UDistribution(x.size(), y.size());
  double tail = 0.0;
  for (std::size_t i = 0; i <= std::min(u, x.size() * y.size() - u); ++i) tail += distribution[i];
  return {static_cast<double>(u), std::min(1.0, 2.0 * tail)};
}

double SignedRankTwoSided(const std::vector<double>& values) {
  std::vector<double> signed_values;
  for (const double value : values) {
    if (!std::isfinite(value)) return std::nan("");
    if (value != 0.0) signed_values.push_back(value);
  }
  if (signed_values.empty()) return 1.0;
  std::ranges::sort(signed_values, {}, [](double value) { return std::fabs(value); });
  const std::vector<std::size_t> ranks = DoubledRanks(signed_values);
  std::size_t above = 0, all = 0;
  double squares = 0.0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    all += ranks[i];
    above += signed_values[i] > 0.0 ? ranks[i] : 0;
    squares += static_cast<double>(ranks[i]) * static_cast<double>(ranks[i]);
  }
  const std::size_t fewer = std::min(above, all - above);
  if (ranks.size() <= kMaxSigned) return std::min(1.0, 2.0 * SignedRankCdf(ranks, fewer));
  // A rank counts or does not: variance a quarter of the squares.
  const double z =
      (static_cast<double>(fewer) - 0.5 * static_cast<double>(all)) / (0.5 * std::sqrt(squares));
  return std::min(1.0, 2.0 * NormalCdf(z));
}

}  // namespace rharness::stats
