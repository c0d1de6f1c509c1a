// Plans reruns: how many are worth making, and their cost.
#include "compare/stats/planning.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

#include "compare/stats/looks.h"
#include "compare/stats/power.h"
#include "compare/stats/quadrature.h"

namespace rharness::stats {
namespace {

constexpr double kMaxPriorDf = 30.0;
constexpr int kMaxHistory = 1000000;

double StandardErrorOf(int n, int k) { return std::sqrt(1.0 / n + 1.0 / k); }

double DfOf(int n, int k, double prior_df) { return prior_df + n + k - 2.0; }

bool IsErrorRate(double alpha) { return alpha > 0.0 && alpha < 0.5; }

Status Check(const RerunQuestion& question) {
  if (question.n < 1 || question.n > kMaxHistory) {
    return InvalidInput(
        fmt::format("{} historical runs; expected 1 to {}", question.n, kMaxHistory));
  }
  if (!(question.prior_df >= 0.0) || question.prior_df > kMaxPriorDf) {
    return InvalidInput(
        fmt::format("prior df {}; expected 0 to {}", question.prior_df, kMaxPriorDf));
  }
  if (!(question.delta > 0.0) || !std::isfinite(question.delta)) {
    return InvalidInput(fmt::format("margin {}; expected one above 0", question.delta));
  }
  if (!IsErrorRate(question.alpha_drift) || !IsErrorRate(question.alpha_equivalence)) {
    return InvalidInput("error rates must lie between 0 and 0.5");
  }
  if (!(question.power > question.alpha_equivalence) || !(question.power < 1.0) ||
      !(question.power > question.alpha_drift)) {
    return InvalidInput(
        fmt::format("power {}; expected one above the error rates and below 1", question.power));
  }
  if (!(question.gpu_hours_per_rerun >= 0.0) || !std::isfinite(question.gpu_hours_per_rerun) ||
      !(question.budget_gpu_hours >= 0.0)) {
    return InvalidInput("GPU hours must not be negative");
  }
  return {};
}

// Each k on its own, with the equivalence rate halved for a single rerun as the decision does.
LookSchedule EveryK(const RerunQuestion& question) {
  LookSchedule schedule;
  for (int k = 1; k <= kMaxReruns; ++k) {
    schedule.looks.push_back(k);
    schedule.fraction.push_back(1.0);
    schedule.alpha_drift.push_back(question.alpha_drift);
    schedule.alpha_equivalence.push_back(question.alpha_equivalence / (k == 1 ? 2.0 : 1.0));
  }
  return schedule;
}

PlannedLook PlanLook(const RerunQuestion& question, const LookSchedule& schedule, std::size_t i) {
  PlannedLook look;
  look.k = schedule.looks[i];
  look.information_fraction = schedule.fraction[i];
  look.alpha_drift = schedule.alpha_drift[i];
  look.alpha_equivalence = schedule.alpha_equivalence[i];
  look.df = DfOf(question.n, look.k, question.prior_df);
  look.gpu_hours = look.k * question.gpu_hours_per_rerun;
  look.affordable = look.gpu_hours <= question.budget_gpu_hours;
  if (!(look.df > 0.0)) {
    look.smallest_margin = std::numeric_limits<double>::infinity();
    look.detectable_shift = std::numeric_limits<double>::infinity();
    return look;
  }
  look.power = TostPower(question.delta, 0.0, StandardErrorOf(question.n, look.k), look.df,
                         look.alpha_equivalence);
  look.smallest_margin =
      SmallestMargin(question.n, look.k, question.prior_df, look.alpha_equivalence, question.power);
  look.detectable_shift =
      DetectableShift(question.n, look.k, question.prior_df, look.alpha_drift, question.power);
  return look;
}

}  // namespace

double SmallestMargin(int n, int k, double prior_df, double alpha, double power) {
  const double df = DfOf(n, k, prior_df);
  if (n < 1 || k < 1 || !(df > 0.0) || !IsErrorRate(alpha) || !(power > 0.0) || !(power < 1.0)) {
    return std::nan("");
  }
  const double se = StandardErrorOf(n, k);
  const auto gap = [&](double delta) { return TostPower(delta, 0.0, se, df, alpha) - power; };
  double low = 0.0;
  double high = 2.0 * se;
  while (gap(high) < 0.0) {
    low = high;
    high *= 2.0;
    if (high > 1e9 * se) return std::nan("");
  }
  return FindRoot(gap, low, high);
}

double DetectableShift(int n, int k, double prior_df, double alpha, double power) {
  if (n < 1 || k < 1) return std::nan("");
  return StandardErrorOf(n, k) * DetectableNoncentrality(DfOf(n, k, prior_df), alpha, power);
}

Result<RerunPlan> PlanReruns(const RerunQuestion& question) {
  RETURN_IF_ERROR(Check(question));
  LookSchedule schedule = EveryK(question);
  if (!question.looks.empty()) {
    ASSIGN_OR_RETURN(schedule, ScheduleLooks(question.n, question.looks, question.alpha_drift,
                                             question.alpha_equivalence));
  }
  if (!(DfOf(question.n, schedule.looks.back(), question.prior_df) > 0.0)) {
    return InvalidInput("one run against one without a family variance: no number would decide");
  }
  RerunPlan plan;
  for (std::size_t i = 0; i < schedule.looks.size(); ++i) {
    plan.looks.push_back(PlanLook(question, schedule, i));
    const PlannedLook& look = plan.looks.back();
    if (plan.k != 0) continue;
    plan.power = look.power;
    plan.gpu_hours = look.gpu_hours;
    if (look.power >= question.power) plan.k = look.k;
  }
  plan.within_budget = plan.k != 0 && plan.gpu_hours <= question.budget_gpu_hours;
  return plan;
}

}  // namespace rharness::stats
