// The share of runs that reproduce, as a service indicator, and when its error budget burns.
#include "compare/metrics/reproducible_rate.h"

#include <fmt/format.h>

#include <algorithm>

#include "compare/stats/proportions.h"

namespace rharness {
namespace {

constexpr double kConfidence = 0.95;

Status CheckCounts(const VerdictCounts& counts) {
  if (counts.good >= 0 && counts.bad >= 0 && counts.inconclusive >= 0) return {};
  return InvalidInput(fmt::format("counts {}, {} and {}; expected none below 0", counts.good,
                                  counts.bad, counts.inconclusive));
}

double BurnOf(const VerdictCounts& counts, double slo) {
  const double conclusive = static_cast<double>(counts.good) + counts.bad;
  return conclusive > 0.0 ? stats::BurnRate(counts.bad, conclusive, slo) : 0.0;
}

}  // namespace

Result<ReproducibleRate> RateOf(const VerdictCounts& counts, double alpha_drift) {
  RETURN_IF_ERROR(CheckCounts(counts));
  if (!(alpha_drift >= 0.0) || !(alpha_drift < 0.5)) {
    return InvalidInput(fmt::format("alpha_drift {}; expected 0 to below 0.5", alpha_drift));
  }
  const double good = counts.good;
  const double conclusive = good + counts.bad;
  const double all = conclusive + counts.inconclusive;
  if (!(conclusive > 0.0)) return InvalidInput("no conclusive run; expected one or more");
  ReproducibleRate rate;
  rate.rate = good / conclusive;
  rate.wilson = stats::Wilson(good, conclusive, 1.0 - kConfidence);
  rate.lower_bound = stats::ClopperPearsonLower(good, conclusive, kConfidence);
  rate.inconclusive_rate = counts.inconclusive / all;
  rate.worst_case_rate = good / all;
  rate.worst_case_lower_bound = stats::ClopperPearsonLower(good, all, kConfidence);
  rate.corrected_bad_rate =
      std::clamp((counts.bad / conclusive - alpha_drift) / (1.0 - alpha_drift), 0.0, 1.0);
  return rate;
}

Result<BurnDecision> DecideBurn(const BurnAlarm& alarm, double slo,
                                const VerdictCounts& long_window,
                                const VerdictCounts& short_window) {
  RETURN_IF_ERROR(CheckCounts(long_window));
  RETURN_IF_ERROR(CheckCounts(short_window));
  if (!(slo > 0.0) || !(slo < 1.0)) {
    return InvalidInput(fmt::format("objective {}; expected one between 0 and 1", slo));
  }
  BurnDecision decision;
  decision.threshold =
      stats::BurnRateThreshold(alarm.budget_fraction, alarm.long_hours, kBurnPeriodHours);
  decision.long_burn = BurnOf(long_window, slo);
  decision.short_burn = BurnOf(short_window, slo);
  const double conclusive = static_cast<double>(long_window.good) + long_window.bad;
  decision.enough_checks = conclusive >= kFewestBurnChecks;
  if (conclusive > 0.0) {
    decision.long_lower =
        stats::Jeffreys(long_window.bad, conclusive, 2.0 * (1.0 - kConfidence)).low;
  }
  decision.fires = decision.enough_checks &&
                   decision.long_lower > decision.threshold * (1.0 - slo) &&
                   decision.short_burn > decision.threshold;
  return decision;
}

}  // namespace rharness
