// Mean and spread of a sample, without cancellation.
//
// Role: the first step from values to any test. Values are shifted by the first one before they are
// summed, so a large common offset costs no digits (StRD NumAcc data sets).
#ifndef RHARNESS_COMPARE_STATS_MOMENTS_H_
#define RHARNESS_COMPARE_STATS_MOMENTS_H_

#include <vector>

namespace rharness::stats {

struct Moments {
  double count = 0.0;
  double mean = 0.0;            // 0 for no values
  double sum_of_squares = 0.0;  // about the mean; exactly 0 when all values are equal

  // Divisor count - 1; 0 for fewer than two values.
  double Variance() const { return count > 1.0 ? sum_of_squares / (count - 1.0) : 0.0; }
};

// Two passes. A non-finite value makes mean and sum_of_squares non-finite.
Moments ComputeMoments(const std::vector<double>& values);

// sum (x[i] - m)(x[i+1] - m) / sum (x[i] - m)^2; NaN when all values are equal or there are none.
double Lag1Autocorrelation(const std::vector<double>& values);

// Independent values worth as much as n values of an AR(1) series: n (1 - rho) / (1 + rho).
// Needs |rho| < 1, else NaN.
double EffectiveSampleSizeAr1(double n, double rho);

// Mean after the `reject` smallest and the `reject` largest are left out; NaN if none remain.
double OlympicMean(std::vector<double> values, int reject);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_MOMENTS_H_
