// Gauss-Legendre quadrature and a bracketing root finder, for the files of this folder only.
#ifndef RHARNESS_COMPARE_STATS_QUADRATURE_H_
#define RHARNESS_COMPARE_STATS_QUADRATURE_H_

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace rharness::stats {

inline constexpr std::size_t kNodes = 24;

struct GaussRule {
  std::array<double, kNodes> node{};  // on (-1, 1)
  std::array<double, kNodes> weight{};
};

// Roots of the Legendre polynomial of degree kNodes by Newton's method, weights from its
// derivative.
inline GaussRule MakeGaussRule() {
  GaussRule rule;
  for (std::size_t i = 0; i < kNodes; ++i) {
    double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (kNodes + 0.5));
    double slope = 1.0;
    for (int iteration = 0; iteration < 8; ++iteration) {
      double previous = 1.0;
      double value = x;
      for (std::size_t degree = 2; degree <= kNodes; ++degree) {
        const auto d = static_cast<double>(degree);
        const double next = ((2.0 * d - 1.0) * x * value - (d - 1.0) * previous) / d;
        previous = value;
        value = next;
      }
      slope = kNodes * (x * value - previous) / (x * x - 1.0);
      x -= value / slope;
    }
    rule.node[i] = x;
    rule.weight[i] = 2.0 / ((1.0 - x * x) * slope * slope);
  }
  return rule;
}

// The integral of f over [low, high]; 0 when high <= low. Exact for polynomials of degree 47.
template <class F>
double Integrate(const F& f, double low, double high) {
  static const GaussRule rule = MakeGaussRule();
  if (!(high > low)) return 0.0;
  const double half = 0.5 * (high - low);
  const double middle = 0.5 * (high + low);
  double sum = 0.0;
  for (std::size_t i = 0; i < kNodes; ++i) sum += rule.weight[i] * f(middle + half * rule.node[i]);
  return half * sum;
}

// The root of an increasing or decreasing f between low and high, where f must change its sign; NaN
// when it does not. Regula falsi with the Illinois correction, to a relative width of 1e-11
// or |f| < 1e-12.
template <class F>
double FindRoot(const F& f, double low, double high) {
  double f_low = f(low);
  double f_high = f(high);
  if (!(f_low * f_high <= 0.0)) return std::nan("");
  int side = 0;
  double middle = low;
  for (int iteration = 0; iteration < 200; ++iteration) {
    middle = (low * f_high - high * f_low) / (f_high - f_low);
    const double value = f(middle);
    if (std::fabs(value) < 1e-12) break;
    if (value * f_high > 0.0) {
      high = middle;
      f_high = value;
      if (side == -1) f_low *= 0.5;
      side = -1;
    } else {
      low = middle;
      f_low = value;
      if (side == 1) f_high *= 0.5;
      side = 1;
    }
    if (std::fabs(high - low) <= 1e-11 * std::fabs(high + low)) break;
  }
  return middle;
}

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_QUADRATURE_H_
