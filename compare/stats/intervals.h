// Bands for single values: prediction and tolerance intervals, and their distribution-free kin.
//
// Role: factors f, so that mean +- f * s is the band. Prediction: will the next m values fall in?
// Tolerance: does the band hold a stated share (coverage) of all values, with stated confidence?
// All return NaN for arguments outside their domain.
// Source: Hahn and Meeker 1991; Howe 1969 (doi:10.1080/01621459.1969.10500999); Natrella 1963;
// Krishnamoorthy and Mathew 2009, section 2.3; Wilks 1941.
#ifndef RHARNESS_COMPARE_STATS_INTERVALS_H_
#define RHARNESS_COMPARE_STATS_INTERVALS_H_

#include <optional>

namespace rharness::stats {

// All of m further values, Bonferroni over m: t(1 - alpha / 2m, df) sqrt(1 + 1/n).
double PredictionFactorAll(double n, double m, double alpha, double df);
// The mean of m further values: t(1 - alpha / 2, df) sqrt(1/m + 1/n).
double PredictionFactorMean(double n, double m, double alpha, double df);

// Two-sided tolerance factors; n values give the mean, df the standard deviation (n - 1, or more
// when it is pooled with a family). Howe's closed form, and the exact one by quadrature.
double ToleranceFactorHowe(double n, double df, double coverage, double confidence);
double ToleranceFactorExact(double n, double df, double coverage, double confidence);
// One-sided: exact by the noncentral t, and Natrella's closed form.
double ToleranceFactorOneSided(double n, double coverage, double confidence);
double ToleranceFactorOneSidedNatrella(double n, double coverage, double confidence);

// Smallest n for which the order-th largest value bounds `coverage` of a continuous distribution
// from above with `confidence`; empty when more than 10^6 would be needed.
std::optional<int> WilksSampleSize(double coverage, double confidence, int order);
// The same for the interval from the smallest to the largest value, and the confidence at n.
std::optional<int> WilksSampleSizeTwoSided(double coverage, double confidence);
double WilksConfidenceTwoSided(double n, double coverage);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_INTERVALS_H_
