// The exact Mann-Whitney test for two small samples.
#include "compare/stats/ranks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace rharness::stats {
namespace {

constexpr std::size_t kMaxSize = 100;

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

}  // namespace rharness::stats
