// How long a property lasts, if many have only been observed so far (censored).
//
// Role: lifetimes in, the product-limit curve with its band out.
// Source: Kaplan and Meier 1958 (doi:10.1080/01621459.1958.10501452); Greenwood 1926; the band on
// the scale of log(-log S): Kalbfleisch and Prentice 2002, section 1.4.
#ifndef RHARNESS_COMPARE_STATS_SURVIVAL_H_
#define RHARNESS_COMPARE_STATS_SURVIVAL_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace rharness::stats {

struct Lifetime {
  double time = 0.0;
  bool ended = false;  // false: it lasted so far, the rest is unknown
};

// From `time` on, up to the next step.
struct SurvivalStep {
  double time = 0.0;
  std::int64_t at_risk = 0;  // just before
  std::int64_t ended = 0;    // at this time
  double share = 1.0;        // of those that last longer
  double error = 0.0;        // Greenwood's standard error of it
  double low = 1.0;          // NaN where the share is 0
  double high = 1.0;
};

// One step per time at which any ended, in order; empty if none did. A lifetime censored at a time
// counts as at risk then. Times that are negative or not finite are left out; bands are two-sided
// at 1 - alpha, each of its own time. O(n log n).
std::vector<SurvivalStep> KaplanMeier(std::vector<Lifetime> lifetimes, double alpha);

// The first time at which half or less last longer; empty: not reached. Between two censored times
// shares are exact fractions; over censorings a share within 1e-9 of a half counts as a half.
std::optional<double> MedianSurvival(const std::vector<SurvivalStep>& steps);

}  // namespace rharness::stats

#endif  // RHARNESS_COMPARE_STATS_SURVIVAL_H_
