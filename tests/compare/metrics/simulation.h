// Random runs for the Monte Carlo tests: own transforms of a standard generator, so that the
// figures are the same with every standard library.
#ifndef RHARNESS_TESTS_COMPARE_METRICS_SIMULATION_H_
#define RHARNESS_TESTS_COMPARE_METRICS_SIMULATION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "compare/metrics/decision.h"
#include "compare/stats/shrinkage.h"

namespace rharness {

class NormalSource {
 public:
  explicit NormalSource(std::uint64_t seed) : engine_(seed) {}

  double Next() {  // Box and Muller, one value of each pair kept for the next call
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));
    const double angle = 2.0 * std::numbers::pi * Uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

  double ChiSquared(int df) {
    double sum = 0.0;
    for (int i = 0; i < df; ++i) {
      const double z = Next();
      sum += z * z;
    }
    return sum;
  }

  std::vector<double> Sample(int size, double mean, double deviation) {
    std::vector<double> values;
    for (int i = 0; i < size; ++i) values.push_back(mean + deviation * Next());
    return values;
  }

  double Uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 engine_;
  double spare_ = 0.0;
  bool has_spare_ = false;
};

// Standard deviation of one configuration: variances are scaled inverse chi-squared on 8 df.
inline double DrawDeviation(NormalSource* source) { return std::sqrt(8.0 / source->ChiSquared(8)); }

// Variances of 3 runs of each of a family's 20 configurations.
inline std::vector<double> DrawVariances(NormalSource* source) {
  std::vector<double> variances;
  for (int i = 0; i < 20; ++i) {
    const double deviation = DrawDeviation(source);
    variances.push_back(deviation * deviation * source->ChiSquared(2) / 2.0);
  }
  return variances;
}

// The prior as the reference simulation fitted it: with up to 30 degrees of freedom, where
// FitVariancePrior claims 8 at most.
inline VariancePrior DrawFamily(NormalSource* source) {
  const stats::ScaledInverseChiSquared fit =
      stats::FitScaledInverseChiSquared(DrawVariances(source), std::vector<double>(20, 2.0));
  return {fit.s0_squared, std::min(fit.df, 30.0), 20};
}

// Trials behind each figure of the reference table that the tests compare with.
inline constexpr double kReferenceTrials = 20000.0;

// Four standard errors of the difference of a simulated share and one of that table.
inline double FourErrors(double share, double trials) {
  return 4.0 * std::sqrt(share * (1.0 - share) * (1.0 / trials + 1.0 / kReferenceTrials));
}

// A stated rate plus four standard errors of the simulation alone.
inline double Bound(double rate, double trials) {
  return rate + 4.0 * std::sqrt(rate * (1.0 - rate) / trials);
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_METRICS_SIMULATION_H_
