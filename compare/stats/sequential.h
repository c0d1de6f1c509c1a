// Repeated looks: Wald's test, mixture tests and spent error rates.
//
// Role: for checks whose number of reruns is not fixed in advance. They are not interchangeable:
// one is chosen before a check starts. Source: Wald 1947; Robbins 1970; Johari et al. 2017
// (doi:10.1145/3097983.3097992); Lan and DeMets 1983 (doi:10.1093/biomet/70.3.659); Jennison and
// Turnbull 2000, chapter 2.
#ifndef RHARNESS_COMPARE_STATS_SEQUENTIAL_H_
#define RHARNESS_COMPARE_STATS_SEQUENTIAL_H_

#include <cstddef>
#include <optional>
#include <vector>

namespace rharness::stats {

// Log likelihood ratios at which Wald's test accepts H1 (at or above log_a) or H0 (at or below
// log_b).
struct SprtThresholds {
  double log_a = 0.0;
  double log_b = 0.0;
};
SprtThresholds WaldThresholds(double alpha, double beta);

// After n outcomes of which d failed: H0 (rate p1) when d <= s n - h1, H1 (rate p2) when
// d >= s n + h2. Needs 0 < p1 < p2 < 1.
struct SprtLines {
  double h1 = 0.0;
  double h2 = 0.0;
  double s = 0.0;
};
SprtLines BernoulliSprtLines(double p1, double p2, double alpha, double beta);

// Log likelihood ratio of theta1 over theta0 for normal values of known sigma.
double NormalLogLikelihoodRatio(const std::vector<double>& x, double theta0, double theta1,
                                double sigma);

// Mixture test of mean 0 with known sigma and a normal(0, tau^2) mixture over the alternative,
// valid at every n at once.
struct MixtureTest {
  double e_value = 0.0;              // reject at e >= 1 / alpha
  double p = 1.0;                    // min(1, 1 / e)
  double interval_half_width = 0.0;  // around the mean, confidence 1 - alpha at all n together
};
MixtureTest NormalMixtureTest(double mean, double n, double sigma, double tau, double alpha);

// The same test, value by value, for a dashboard that is watched continuously. Chance takes it to 1
// / alpha at any time with probability alpha or less. A value that is not finite ends it:
// everything from there on is NaN and no alarm.
struct MixtureProcess {
  std::vector<double> e_values;            // after each value
  double p = 1.0;                          // the smallest 1 / e so far, at most 1
  std::optional<std::size_t> first_alarm;  // index of the first value with e >= 1 / alpha
};
MixtureProcess NormalMixtureProcess(const std::vector<double>& x, double mean0, double sigma,
                                    double tau, double alpha);

// Two-sided error spent by information time t in (0, 1], O'Brien-Fleming shape.
double LanDeMetsSpent(double t, double alpha);

// The constant c of a two-sided design with `looks` equally spaced looks: |Z_j| is compared with
// c (Pocock) or c sqrt(looks / j) (O'Brien-Fleming). Needs looks >= 1.
enum class BoundaryShape { kPocock, kObrienFleming };
double GroupSequentialConstant(int looks, BoundaryShape shape, double alpha);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_SEQUENTIAL_H_
