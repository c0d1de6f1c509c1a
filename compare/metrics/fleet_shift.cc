// A driver upgrade over a fleet: did it move the runs, and which?
#include "compare/metrics/fleet_shift.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "compare/stats/distributions.h"
#include "compare/stats/equivalence.h"
#include "compare/stats/moments.h"
#include "compare/stats/multiplicity.h"
#include "compare/stats/power.h"
#include "compare/stats/random_effects.h"
#include "compare/stats/student_t.h"

namespace rharness {
namespace {

constexpr int kFewestRuns = 3;
constexpr double kMostRuns = 1e6;

bool IsTested(const FleetRun& run) {
  return run.variance > 0.0 && std::isfinite(run.variance) && std::isfinite(run.shift);
}

std::vector<FleetRun> Tested(const std::vector<FleetRun>& runs) {
  std::vector<FleetRun> tested;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(tested), IsTested);
  return tested;
}

void Append(std::string_view token, std::string* reason) {
  if (!reason->empty()) *reason += ',';
  *reason += token;
}

SharedShift FromTest(const stats::MeanTest& test, int runs, double alpha_equivalence) {
  const stats::Interval interval = stats::ConfidenceInterval(test, 2.0 * alpha_equivalence);
  return {.runs = runs,
          .mean = test.difference,
          .standard_error = test.standard_error,
          .df = test.df,
          .t = test.t,
          .p = test.p_two_sided,
          .ci_low = interval.low,
          .ci_high = interval.high};
}

SharedShift Combine(const std::vector<FleetRun>& runs, double alpha_equivalence) {
  std::vector<double> shifts;
  shifts.reserve(runs.size());
  std::vector<double> variances;
  for (const FleetRun& run : runs) {
    shifts.push_back(run.shift);
    variances.push_back(run.variance);
  }
  const stats::RandomEffects effects =
      stats::CombineEffects(shifts, variances, stats::BetweenVariance::kTruncated);
  SharedShift shift =
      FromTest(stats::MakeMeanTest(effects.mean, effects.standard_error_hksj, effects.df),
               static_cast<int>(runs.size()), alpha_equivalence);
  shift.tau_squared = effects.tau_squared;
  return shift;
}

bool HaveEqualVariances(const std::vector<FleetRun>& runs) {
  return std::all_of(runs.begin(), runs.end(),
                     [&](const FleetRun& run) { return run.variance == runs.front().variance; });
}

stats::Moments MomentsOf(const std::vector<FleetRun>& runs) {
  std::vector<double> shifts;
  for (const FleetRun& run : runs) shifts.push_back(run.shift);
  return stats::ComputeMoments(shifts);
}

// Which numbers the verdict rests on: the runs themselves, or their difference from controls that
// moved as well.
void ChooseBasis(const std::vector<FleetRun>& runs, const std::vector<FleetRun>& controls,
                 const FleetSettings& settings, FleetShift* result) {
  result->method = HaveEqualVariances(runs) ? "one_sample_t" : "random_effects_hksj";
  result->decided = result->shift;
  if (controls.size() < kFewestRuns) {
    Append("no_controls", &result->reason);
    return;
  }
  result->controls = Combine(controls, settings.alpha_equivalence);
  if (!(result->controls.p < settings.alpha_drift)) return;
  Append("time_shift", &result->reason);
  result->method = "welch_against_controls";
  result->decided = FromTest(stats::WelchTest(MomentsOf(runs), MomentsOf(controls)),
                             static_cast<int>(runs.size()), settings.alpha_equivalence);
}

void DecideShared(const FleetSettings& settings, FleetShift* result) {
  const SharedShift& shift = result->decided;
  const stats::Interval interval{shift.ci_low, shift.ci_high};
  const bool differs = shift.p < settings.alpha_drift;
  if (stats::IsInside(interval, -settings.margin, settings.margin)) {
    result->verdict = MetricVerdict::kWithin;
    if (differs) Append("detectable_shift", &result->reason);
  } else if (differs) {
    result->verdict = MetricVerdict::kDrifted;
    if (stats::IsOutside(interval, -settings.margin, settings.margin)) {
      Append("material", &result->reason);
    }
  }
}

void FlagRuns(const std::vector<FleetRun>& runs, double rate, FleetShift* result) {
  std::vector<double> p_values;
  p_values.reserve(runs.size());
  for (const FleetRun& run : runs) p_values.push_back(run.p);
  result->adjusted_p = stats::AdjustBenjaminiHochberg(p_values);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (result->adjusted_p[i] <= rate) result->to_confirm.push_back(runs[i].run_id);
  }
}

}  // namespace

FleetRun FleetRunOf(std::string run_id, const MetricDecision& decision, bool higher_is_better) {
  FleetRun run;
  run.run_id = std::move(run_id);
  if (decision.verdict == MetricVerdict::kDrifted && !(decision.standard_error > 0.0)) run.p = 0.0;
  if (!(decision.standard_error > 0.0) || !(decision.standard_deviation > 0.0)) return run;
  const double shift = decision.difference / decision.standard_deviation;
  run.shift = higher_is_better ? shift : -shift;
  const double ratio = decision.standard_error / decision.standard_deviation;
  run.variance = ratio * ratio;
  run.p = decision.p_difference;
  return run;
}

FleetShift DecideFleetShift(const std::vector<FleetRun>& runs,
                            const std::vector<FleetRun>& controls, const FleetSettings& settings) {
  FleetShift result;
  FlagRuns(runs, settings.false_discovery_rate, &result);
  const std::vector<FleetRun> tested = Tested(runs);
  result.left_out = static_cast<int>(runs.size() - tested.size());
  if (tested.size() < kFewestRuns) {
    result.reason = "too_few_runs";
    result.method = "none";
    return result;
  }
  result.shift = Combine(tested, settings.alpha_equivalence);
  ChooseBasis(tested, Tested(controls), settings, &result);
  DecideShared(settings, &result);
  return result;
}

bool IsConfirmed(const MetricDecision& with_confirming_rerun) {
  return with_confirming_rerun.verdict == MetricVerdict::kDrifted;
}

FleetSize PlanFleet(double mu, double variance, double tau_squared, double alpha, double power) {
  const bool possible = mu > 0.0 && variance > 0.0 && tau_squared >= 0.0 && alpha > 0.0 &&
                        power > alpha && power < 1.0;
  if (!possible || !std::isfinite(mu)) return {};
  const double per_run = variance + tau_squared;
  const double z = stats::NormalQuantile(1.0 - alpha / 2.0) + stats::NormalQuantile(power);
  const double normal = std::ceil(z * z / (mu * mu) * per_run);
  if (!(normal <= kMostRuns)) return {};
  const auto enough = [&](int runs) {
    return stats::TwoSidedPower(mu * std::sqrt(runs / per_run), runs - 1.0, alpha) >= power;
  };
  FleetSize size{std::max(1, static_cast<int>(normal)), 0};
  int low = 1;
  int high = static_cast<int>(kMostRuns);
  if (!enough(high)) return size;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  size.student = high;
  return size;
}

}  // namespace rharness
