// What no rule can do: shifts found against false drifts, where a rule sees three values on each
// side and groups differ in their variances as those of real repeats do.
//
// The rule here is the most powerful one that there is (Neyman and Pearson): it knows every group's
// variance, those of the group that it judges too, and only not which group it looks at; it calls a
// drift where the summed likelihood of shifts by 3 deviations is so many times the weighted sum of
// none. With equal weights it finds the most at a given mean rate of false drifts. A weight above
// one guards a group; with weights that just hold each group's rate, no rule finds more within both
// limits (Lagrange). So the measured rates of the shipped rule, in repeats_test.cc, stand beside
// what could be had at all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

#include "compare/stats/moments.h"
#include "tests/compare/metrics/repeat_groups.h"
#include "tests/compare/metrics/simulation.h"
#include "tests/shared_data.h"

namespace rharness {
namespace {

constexpr std::size_t kDraws = 600;     // a group, with a shift and without
constexpr double kShift = 3.0;          // deviations of the group
constexpr double kOfMeans = 2.0 / 3.0;  // variance of a difference of two means of three

// A difference of means and the sum of squares within, four degrees of freedom.
struct Seen {
  double difference = 0.0;
  double squares = 0.0;
};

// Logarithm of the density of what was seen in a group of this deviation, but for constants.
double LogDensity(const Seen& seen, double deviation, double shift) {
  const double variance = deviation * deviation;
  const double off = seen.difference - shift * deviation;
  return -2.5 * std::log(variance) - seen.squares / (2.0 * variance) -
         off * off / (2.0 * variance * kOfMeans);
}

// Of one draw: the sum over groups of the likelihood of a shift to either side, and each group's of
// none, all over one factor.
struct Likelihoods {
  double shifted = 0.0;
  std::vector<float> none;
};

Likelihoods LikelihoodsOf(const Seen& seen, const std::vector<double>& deviations) {
  std::vector<double> none, up, down;
  double most = -1e300;
  for (const double deviation : deviations) {
    none.push_back(LogDensity(seen, deviation, 0.0));
    up.push_back(LogDensity(seen, deviation, kShift));
    down.push_back(LogDensity(seen, deviation, -kShift));
    most = std::max({most, none.back(), up.back(), down.back()});
  }
  Likelihoods result;
  for (std::size_t g = 0; g < deviations.size(); ++g) {
    result.shifted += (std::exp(up[g] - most) + std::exp(down[g] - most)) / 2.0;
    result.none.push_back(static_cast<float>(std::exp(none[g] - most)));
  }
  return result;
}

double Score(const Likelihoods& likelihoods, const std::vector<double>& weights) {
  double none = 1e-30;
  for (std::size_t g = 0; g < weights.size(); ++g) {
    none += weights[g] * static_cast<double>(likelihoods.none[g]);
  }
  return likelihoods.shifted / none;
}

struct BestRates {
  std::vector<double> false_drift;  // by group
  double worst_group = 0.0;
  double found = 0.0;  // on average over groups
};

class BestRule {
 public:
  explicit BestRule(std::vector<double> deviations) : deviations_(std::move(deviations)) {
    NormalSource source(7);
    for (const double deviation : deviations_) {
      for (const double shift : {0.0, kShift}) {
        for (std::size_t i = 0; i < kDraws; ++i) {
          Seen seen{.difference = deviation * (shift + source.Next() * std::sqrt(kOfMeans))};
          for (int df = 0; df < 4; ++df) seen.squares += std::pow(deviation * source.Next(), 2.0);
          (shift == 0.0 ? none_ : shifted_).push_back(LikelihoodsOf(seen, deviations_));
        }
      }
    }
  }

  // Where the mean rate of false drifts is `level`.
  BestRates At(double level, const std::vector<double>& weights) const {
    std::vector<double> scores;
    for (const Likelihoods& one : none_) scores.push_back(Score(one, weights));
    std::vector<double> sorted = scores;
    const auto at = static_cast<long>((1.0 - level) * static_cast<double>(sorted.size()));
    std::ranges::nth_element(sorted, sorted.begin() + at);
    const double limit = sorted[static_cast<std::size_t>(at)];
    BestRates rates;
    for (std::size_t g = 0; g < deviations_.size(); ++g) {
      const auto begin = scores.begin() + static_cast<long>(g * kDraws);
      const auto beyond = std::count_if(begin, begin + static_cast<long>(kDraws),
                                        [&](double score) { return score > limit; });
      rates.false_drift.push_back(static_cast<double>(beyond) / kDraws);
    }
    rates.worst_group = std::ranges::max(rates.false_drift);
    const auto found = std::ranges::count_if(
        shifted_, [&](const Likelihoods& one) { return Score(one, weights) > limit; });
    rates.found = static_cast<double>(found) / static_cast<double>(shifted_.size());
    return rates;
  }

  // The same where no group's rate is above `most`.
  BestRates Guarded(double level, double most) const {
    std::vector<double> weights(deviations_.size(), 1.0);
    BestRates rates = At(level, weights);
    for (int round = 0; round < 40; ++round) {
      for (std::size_t g = 0; g < weights.size(); ++g) {
        if (rates.false_drift[g] > most) weights[g] *= 1.4;
        if (rates.false_drift[g] < 0.9 * most) weights[g] = std::max(1.0, weights[g] * 0.9);
      }
      rates = At(level, weights);
    }
    return rates;
  }

 private:
  std::vector<double> deviations_;
  std::vector<Likelihoods> none_, shifted_;  // kDraws a group, groups in their order
};

TEST(RealRepeats, HaveNoRuleThatFindsMoreThanSevenTenthsAndSparesEachGroup) {
  const auto folder = SharedData("repeats");
  if (!folder) GTEST_SKIP() << kNoSharedData;
  std::vector<double> deviations;
  for (const auto& [group, values] : ReadRepeatGroups(*folder / "nanogpt.csv")) {
    if (values.size() < 7) continue;  // as repeats_test.cc
    deviations.push_back(std::sqrt(stats::ComputeMoments(values).Variance()));
  }
  ASSERT_GE(deviations.size(), 45U);
  const BestRule rule(deviations);
  const BestRates free = rule.At(0.012, std::vector<double>(deviations.size(), 1.0));
  const BestRates guarded = rule.Guarded(0.012, 0.05);
  std::printf(
      "the best rule, n = k = 3, A/A 0.012: finds %.3f of shifts by 3 sd, worst group %.3f\n"
      "with each group spared:              finds %.3f, worst group %.3f\n",
      free.found, free.worst_group, guarded.found, guarded.worst_group);
  // 0.71 and 0.70, give or take 0.01 by the draws: with groups unknown less is left.
  EXPECT_LT(free.found, 0.74);
  EXPECT_LT(guarded.found, 0.73);
  EXPECT_LE(guarded.found, free.found);
  EXPECT_LE(guarded.worst_group, 0.06);
}

}  // namespace
}  // namespace rharness
