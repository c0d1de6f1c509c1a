// Fisher's exact test of a 2 x 2 table.
#include "compare/results/fisher_exact.h"

#include <algorithm>
#include <cmath>

#include "compare/stats/distributions.h"

namespace rharness {
namespace {

// Tables that tie exactly in theory differ by rounding in practice.
constexpr double kTie = 1e-9;

double LogChoose(int n, int k) {
  return stats::LogGamma(n + 1.0) - stats::LogGamma(k + 1.0) - stats::LogGamma(n - k + 1.0);
}

}  // namespace

double FisherExactTwoSided(int a, int b, int c, int d) {
  const int first = a + b;
  const int second = c + d;
  const int successes = a + c;
  const auto log_p = [&](int x) {
    return LogChoose(first, x) + LogChoose(second, successes - x) -
           LogChoose(first + second, successes);
  };
  const double observed = log_p(a);
  double sum = 0.0;
  for (int x = std::max(0, successes - second); x <= std::min(first, successes); ++x) {
    const double one = log_p(x);
    if (one <= observed + kTie) sum += std::exp(one);
  }
  return std::min(1.0, sum);
}

}  // namespace rharness
