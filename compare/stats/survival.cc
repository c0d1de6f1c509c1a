// The product-limit estimate; see survival.h.
#include "compare/stats/survival.h"

#include <algorithm>
#include <cmath>

#include "compare/stats/distributions.h"

namespace rharness::stats {
namespace {

// Within (0, 1) on any data, unlike the plain one.
void FillBand(double z, double variance_sum, SurvivalStep* step) {
  step->error = step->share * std::sqrt(variance_sum);
  if (step->share <= 0.0) {
    step->error = step->low = step->high = std::nan("");
    return;
  }
  const double log_share = std::log(step->share);
  const double width = z * std::sqrt(variance_sum) / std::fabs(log_share);
  step->low = std::exp(log_share * std::exp(width));
  step->high = std::exp(log_share * std::exp(-width));
}

}  // namespace

std::vector<SurvivalStep> KaplanMeier(std::vector<Lifetime> lifetimes, double alpha) {
  std::erase_if(lifetimes,
                [](const Lifetime& one) { return !(one.time >= 0.0) || std::isinf(one.time); });
  std::ranges::sort(lifetimes, {}, &Lifetime::time);
  const double z = NormalQuantile(1.0 - alpha / 2.0);
  std::vector<SurvivalStep> steps;
  double share = 1.0;
  double variance_sum = 0.0;
  // Since the last censoring the share is `stretch_share` times the remaining part of
  // `stretch_risk`.
  double stretch_share = 1.0;
  auto stretch_risk = static_cast<double>(lifetimes.size());
  for (std::size_t i = 0; i < lifetimes.size();) {
    std::size_t next = i;
    std::int64_t ended = 0;
    while (next < lifetimes.size() && lifetimes[next].time == lifetimes[i].time) {
      if (lifetimes[next++].ended) ++ended;
    }
    const auto at_risk = static_cast<double>(lifetimes.size() - i);
    const auto d = static_cast<double>(ended);
    if (ended > 0) {
      share = stretch_share * (at_risk - d) / stretch_risk;
      variance_sum += d / (at_risk * (at_risk - d));
      SurvivalStep step{.time = lifetimes[i].time,
                        .at_risk = static_cast<std::int64_t>(lifetimes.size() - i),
                        .ended = ended,
                        .share = share};
      FillBand(z, variance_sum, &step);
      steps.push_back(step);
    }
    if (next - i > static_cast<std::size_t>(ended)) {  // some are censored here
      stretch_share = share;
      stretch_risk = static_cast<double>(lifetimes.size() - next);
    }
    i = next;
  }
  return steps;
}

std::optional<double> MedianSurvival(const std::vector<SurvivalStep>& steps) {
  constexpr double kRounding = 1e-9;  // of a million products less
  for (const SurvivalStep& step : steps) {
    if (step.share <= 0.5 + kRounding) return step.time;
  }
  return std::nullopt;
}

}  // namespace rharness::stats
