// Methods: power, sizes, margins, and plans with their GPU hours.
#include <cmath>

#include "compare/methods/families.h"
#include "compare/stats/looks.h"
#include "compare/stats/planning.h"
#include "compare/stats/power.h"

namespace rharness {
namespace {

constexpr int kMostPerArm = 100;
constexpr double kMostHistory = 1e6;

Result<Json> SizeOf(const std::optional<stats::SampleSize>& size, const std::string& key) {
  if (!size) return InvalidInput("not even 100 runs reach this power", "$.delta_over_sigma");
  return Object({{key, size->k}, {"power", size->power}});
}

Result<Json> Balanced(const Inputs& in) {
  if (in.NumberOr("theta", 0.0) != 0.0) {
    return InvalidInput("sizes are planned for no change; expected 0", "$.theta");
  }
  return SizeOf(stats::TostSampleSizeBalanced(in.Number("delta_over_sigma"), in.Number("alpha"),
                                              in.Number("power"), kMostPerArm),
                "k_per_arm");
}

Result<Json> FixedHistory(const Inputs& in) {
  return SizeOf(stats::TostSampleSize(in.Count("n_hist"), in.Number("prior_df"),
                                      in.Number("delta_over_sigma"), in.Number("alpha"),
                                      in.Number("power"), kMostPerArm),
                "k");
}

Result<Json> TwoSample(const Inputs& in) {
  if (in.Has("two_sided") && !in.Flag("two_sided")) {
    return InvalidInput("only the two-sided test is offered; expected true", "$.two_sided");
  }
  const double n = stats::TwoSampleSize(in.Number("d"), in.Number("alpha"), in.Number("power"));
  return Object({{"n_per_arm", n}, {"n_ceil", std::ceil(n)}});
}

Result<Json> TostPowerOf(const Inputs& in) {
  return Object({{"power", stats::TostPower(in.Number("delta"), in.Number("theta"), in.Number("se"),
                                            in.Number("df"), in.Number("alpha"))}});
}

Json LooksOf(const stats::RerunPlan& plan) {
  Json looks = Json::MakeArray();
  for (const stats::PlannedLook& look : plan.looks) {
    looks.Append(Object({{"k", look.k},
                         {"information_fraction", look.information_fraction},
                         {"alpha_drift", look.alpha_drift},
                         {"alpha_equiv", look.alpha_equivalence},
                         {"df", look.df},
                         {"power", look.power},
                         {"smallest_delta", look.smallest_margin},
                         {"detectable_shift", look.detectable_shift},
                         {"gpu_hours", look.gpu_hours},
                         {"affordable", look.affordable}}));
  }
  return looks;
}

Result<Json> Plan(const Inputs& in) {
  stats::RerunQuestion question;
  question.n = in.Count("n_hist");
  question.prior_df = in.Number("prior_df");
  question.delta = in.Number("delta_over_sigma");
  question.alpha_drift = in.NumberOr("alpha_drift", question.alpha_drift);
  question.alpha_equivalence = in.NumberOr("alpha_equiv", question.alpha_equivalence);
  question.power = in.NumberOr("power", question.power);
  if (in.Has("looks")) question.looks = in.Counts("looks");
  question.gpu_hours_per_rerun = in.NumberOr("gpu_hours_per_rerun", 0.0);
  question.budget_gpu_hours = in.NumberOr("budget_gpu_hours", question.budget_gpu_hours);
  ASSIGN_OR_RETURN(const stats::RerunPlan plan, stats::PlanReruns(question));
  return Object({{"k", plan.k},
                 {"power", plan.power},
                 {"gpu_hours", plan.gpu_hours},
                 {"within_budget", plan.within_budget},
                 {"looks", LooksOf(plan)}});
}

Result<Json> Schedule(const Inputs& in) {
  ASSIGN_OR_RETURN(const stats::LookSchedule schedule,
                   stats::ScheduleLooks(in.Count("n_hist"), in.Counts("looks"),
                                        in.Number("alpha_drift"), in.Number("alpha_equiv")));
  return Object({{"information", Numbers(schedule.information)},
                 {"fraction", Numbers(schedule.fraction)},
                 {"alpha_drift", Numbers(schedule.alpha_drift)},
                 {"alpha_equiv", Numbers(schedule.alpha_equivalence)},
                 {"spent_drift", Numbers(schedule.spent_drift)},
                 {"spent_equiv", Numbers(schedule.spent_equivalence)}});
}

Result<Json> Margins(const Inputs& in) {
  const int n = in.Count("n_hist");
  const int k = in.Count("k");
  const double prior_df = in.Number("prior_df");
  if (!(prior_df + n + k - 2.0 > 0.0)) {
    return InvalidInput("one run against one needs a prior: no variance is known", "$.prior_df");
  }
  return Object(
      {{"smallest_delta",
        stats::SmallestMargin(n, k, prior_df, in.Number("alpha_equiv"), in.Number("power"))},
       {"detectable_shift",
        stats::DetectableShift(n, k, prior_df, in.Number("alpha_drift"), in.Number("power"))}});
}

InputSpec Delta() {
  return NumberInput("delta_over_sigma", "margin, standard deviations of one run", {1e-6, 1e6});
}

InputSpec Alpha() { return NumberInput("alpha", "error rate", kErrorRate); }

InputSpec Power() { return NumberInput("power", "wanted power", {0.5, 1.0, false, true}); }

InputSpec History() { return CountInput("n_hist", "historical runs", 1, kMostHistory); }

InputSpec PriorDf() {
  return NumberInput("prior_df", "degrees of freedom of the family variance", {0.0, 30.0});
}

InputSpec Looks() { return CountsInput("looks", "reruns at each look, increasing", 1, 10, 10); }

std::vector<InputSpec> PlanInputs() {
  return {History(),
          PriorDf(),
          Delta(),
          Looks().Optional(),
          NumberInput("alpha_drift", "error rate of drift (0.01)", kErrorRate).Optional(),
          NumberInput("alpha_equiv", "error rate of equivalence (0.05)", kErrorRate).Optional(),
          NumberInput("power", "wanted power (0.8)", {0.5, 1.0, false, true}).Optional(),
          NumberInput("gpu_hours_per_rerun", "hours", {0.0, 1e9}).Optional(),
          NumberInput("budget_gpu_hours", "hours", {0.0, 1e12}).Optional()};
}

}  // namespace

std::vector<Method> PlanningMethods() {
  const InputSpec alpha_drift = NumberInput("alpha_drift", "error rate of drift", kErrorRate);
  const InputSpec alpha_equiv = NumberInput("alpha_equiv", "error rate of equivalence", kErrorRate);
  return {
      {"tost_power_exact",
       "probability that equivalence is shown",
       {NumberInput("delta", "margin, metric units", kPositive),
        NumberInput("theta", "true difference, metric units", kAnyNumber),
        NumberInput("se", "true standard error of the difference, metric units", kPositive),
        NumberInput("df", "degrees of freedom of its estimate", {0.0, kMostTrials, true}), Alpha()},
       TostPowerOf},
      {"tost_sample_size_balanced",
       "runs per arm to show equivalence when nothing changed",
       {Delta(), NumberInput("theta", "true difference; only 0", {0.0, 0.0}).Optional(), Alpha(),
        Power(), TextInput("df", "how the df grow", {"2k-2"}).Optional()},
       Balanced},
      {"tost_sample_size_fixed_n",
       "reruns to show equivalence against n historical runs",
       {History(), PriorDf(), Delta(), Alpha(), Power(),
        TextInput("df", "how the df grow", {"n-1+k-1+prior_df"}).Optional()},
       FixedHistory},
      {"two_sample_t_sample_size",
       "runs per arm for a two-sided t test to find a shift",
       {NumberInput("d", "shift, standard deviations", {1e-4, 1e6}), Alpha(), Power(),
        FlagInput("two_sided", "only true").Optional()},
       TwoSample},
      {"smallest_margin",
       "margin shown, and shift found, by n against k runs with this power",
       {History(), CountInput("k", "reruns", 1, kMostHistory), PriorDf(), alpha_drift, alpha_equiv,
        Power()},
       Margins},
      {"plan_reruns", "smallest number of reruns worth making, look by look, and its GPU hours",
       PlanInputs(), Plan, true},
      {"look_schedule",
       "information and error rates of a preregistered series of looks",
       {History(), Looks(), alpha_drift, alpha_equiv},
       Schedule},
  };
}

}  // namespace rharness
