// How far t reaches once it is corrected for the skewness of what it was made of.
//
// Source: Hall 1992 (doi:10.1111/j.2517-6161.1992.tb01872.x), section 2.
#ifndef RHARNESS_COMPARE_STATS_SKEWNESS_H_
#define RHARNESS_COMPARE_STATS_SKEWNESS_H_

#include <cmath>

namespace rharness::stats {

// Where t less its correction for skewness is `quantile`, in standard errors: (2.4),
// T + g T^2 / 3 root n + g^2 T^3 / 27 n + g / 6 root n, which is a cube and has one inverse.
inline double SkewedReach(double quantile, double skewness, double n) {
  constexpr double kNone = 1e-12;
  const double root = std::sqrt(n);
  const double corrected = quantile - skewness / (6.0 * root);
  if (std::fabs(skewness) < kNone) return corrected;
  return (std::cbrt(1.0 + skewness * corrected / root) - 1.0) * 3.0 * root / skewness;
}

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_SKEWNESS_H_
