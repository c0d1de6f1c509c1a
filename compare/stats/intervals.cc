// Bands for single values: prediction and tolerance intervals, and their distribution-free kin.
#include "compare/stats/intervals.h"

#include <cmath>
#include <numbers>

#include "compare/stats/distributions.h"
#include "compare/stats/quadrature.h"

namespace rharness::stats {
namespace {

constexpr int kMaxWilksSize = 1000000;

bool IsCoverage(double p) { return p > 0.0 && p < 1.0; }

// The half width around a centre that is off by x, in standard deviations, that covers `coverage`.
double HalfWidthHolding(double coverage, double x) {
  const double centred = NormalQuantile(0.5 + coverage / 2.0);
  const auto gap = [&](double r) { return NormalCdf(x + r) - NormalCdf(x - r) - coverage; };
  return x < 1e-9 ? centred : FindRoot(gap, centred * (1.0 - 1e-9), centred + x + 1.0);
}

// `enough` must hold from some size on.
template <class Enough>
std::optional<int> SmallestSize(int first, const Enough& enough) {
  if (first > kMaxWilksSize || !enough(kMaxWilksSize)) return std::nullopt;
  int low = first - 1;
  int high = kMaxWilksSize;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

double PredictionFactorAll(double n, double m, double alpha, double df) {
  return StudentTQuantile(1.0 - alpha / (2.0 * m), df) * std::sqrt(1.0 + 1.0 / n);
}

double PredictionFactorMean(double n, double m, double alpha, double df) {
  return StudentTQuantile(1.0 - alpha / 2.0, df) * std::sqrt(1.0 / m + 1.0 / n);
}

double ToleranceFactorHowe(double n, double df, double coverage, double confidence) {
  const double z = NormalQuantile(0.5 + coverage / 2.0);
  return z * std::sqrt(df * (1.0 + 1.0 / n) / ChiSquaredQuantile(1.0 - confidence, df));
}

double ToleranceFactorExact(double n, double df, double coverage, double confidence) {
  if (!(n >= 1.0) || !(df > 0.0) || !IsCoverage(coverage) || !IsCoverage(confidence)) {
    return std::nan("");
  }
  const double root_n = std::sqrt(n);
  const auto gap = [&](double k) {
    const auto integrand = [&](double z) {
      const double r = HalfWidthHolding(coverage, z / root_n);
      return ChiSquaredUpper(df * r * r / (k * k), df) * std::exp(-0.5 * z * z);
    };
    const double half = Integrate(integrand, 0.0, 3.0) + Integrate(integrand, 3.0, 9.0);
    return 2.0 * half / std::sqrt(2.0 * std::numbers::pi) - confidence;
  };
  const double guess = ToleranceFactorHowe(n, df, coverage, confidence);
  return FindRoot(gap, 0.5 * guess, 2.0 * guess);
}

double ToleranceFactorOneSided(double n, double coverage, double confidence) {
  const double root_n = std::sqrt(n);
  return NoncentralTQuantile(confidence, n - 1.0, NormalQuantile(coverage) * root_n) / root_n;
}

double ToleranceFactorOneSidedNatrella(double n, double coverage, double confidence) {
  const double z_coverage = NormalQuantile(coverage);
  const double z_confidence = NormalQuantile(confidence);
  const double a = 1.0 - z_confidence * z_confidence / (2.0 * (n - 1.0));
  const double b = z_coverage * z_coverage - z_confidence * z_confidence / n;
  return (z_coverage + std::sqrt(z_coverage * z_coverage - a * b)) / a;
}

std::optional<int> WilksSampleSize(double coverage, double confidence, int order) {
  if (!IsCoverage(coverage) || !IsCoverage(confidence) || order < 1) return {};
  return SmallestSize(order, [&](int n) {
    return 1.0 - BinomialCdf(order - 1.0, n, 1.0 - coverage) >= confidence;
  });
}

std::optional<int> WilksSampleSizeTwoSided(double coverage, double confidence) {
  if (!IsCoverage(coverage) || !IsCoverage(confidence)) return {};
  return SmallestSize(2, [&](int n) { return WilksConfidenceTwoSided(n, coverage) >= confidence; });
}

double WilksConfidenceTwoSided(double n, double coverage) {
  return 1.0 - n * std::pow(coverage, n - 1.0) + (n - 1.0) * std::pow(coverage, n);
}

}  // namespace rharness::stats
