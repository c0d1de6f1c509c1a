// One metric of one run: validity, then equivalence, then drift, else inconclusive; the order of
// the passes in DecideMetric is the rule.
#include "compare/metrics/decision.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "compare/metrics/decision_parts.h"
#include "compare/stats/equivalence.h"
#include "compare/stats/moments.h"
#include "compare/stats/power.h"
#include "compare/stats/shrinkage.h"
#include "compare/stats/student_t.h"

namespace rharness {
namespace {

using stats::MeanTest;
using stats::Moments;

constexpr double kMostPriorDf = 30.0;
// Variances of real families scatter more than the fit sees: more would be overconfident.
constexpr double kMostFittedDf = 8.0;
constexpr int kMinFamilyConfigurations = 5;
constexpr double kMinFamilyDf = 8.0;
constexpr double kDefaultMarginInPriorDeviations = 3.0;
constexpr double kVarianceRatioAlpha = 0.001;
constexpr double kGuardAlpha = 0.10;
constexpr int kMaxMoreReruns = 50;
// An estimate this close to the margin would need far more reruns to be shown inside than outside.
constexpr double kNearMargin = 0.9;

bool AllFinite(const std::vector<double>& values) {
  return std::ranges::all_of(values, IsMeasured);
}

bool IsUsableAlpha(double alpha) { return alpha > 0.0 && alpha < 0.5; }

stats::ScaledInverseChiSquared UsablePrior(const VariancePrior& prior) {
  if (!(prior.s0_squared > 0.0) || !std::isfinite(prior.s0_squared) || !(prior.df > 0.0)) return {};
  return {prior.s0_squared, std::min(prior.df, kMostPriorDf)};
}

double VarianceFloor(double quantum) {
  return quantum > 0.0 && std::isfinite(quantum) ? quantum * quantum / 12.0 : 0.0;
}

// At one run against one the examples that changed sides bound the deviation from below.
double VarianceFloor(const MetricInput& input) {
  const double floor = VarianceFloor(input.quantum);
  const double error = input.example_standard_error;
  if (input.history.size() != 1 || input.reruns.size() != 1) return floor;
  return error > 0.0 && std::isfinite(error) ? std::max(floor, error * error / 2.0) : floor;
}

struct Comparison {
  MeanTest test;
  bool unequal_variance = false;
  double variance_ratio = 0.0;
  double p_variance_ratio = 1.0;

  bool Tested() const {
    return test.standard_error > 0.0 && std::isfinite(test.standard_error) && test.df > 0.0 &&
           std::isfinite(test.t);
  }
};

Moments WithFloor(Moments moments, double floor) {
  moments.sum_of_squares = std::max(moments.sum_of_squares, floor * (moments.count - 1.0));
  return moments;
}

// If a run's own values determine their variance well enough, the prior may widen it but not narrow
// it: in the noisiest configurations of a family it would be too narrow.
double OwnFloor(const Moments& a, const Moments& b, double floor) {
  constexpr double kEnough = 8.0;  // degrees of freedom
  const double df = a.count + b.count - 2.0;
  return df < kEnough ? floor : std::max(floor, (a.sum_of_squares + b.sum_of_squares) / df);
}

// reruns - history: the moderated test, or Welch's when the two variances plainly differ.
Comparison CompareMeans(const std::vector<double>& history, const std::vector<double>& reruns,
                        const stats::ScaledInverseChiSquared& prior, double floor) {
  const Moments old_runs = stats::ComputeMoments(history);
  const Moments new_runs = stats::ComputeMoments(reruns);
  const Moments old_floored = WithFloor(old_runs, floor);
  const Moments new_floored = WithFloor(new_runs, floor);
  Comparison comparison;
  const double ratio_p = stats::VarianceRatioP(new_floored.Variance(), new_runs.count - 1.0,
                                               old_floored.Variance(), old_runs.count - 1.0);
  if (std::isfinite(ratio_p)) {
    comparison.variance_ratio = new_floored.Variance() / old_floored.Variance();
    comparison.p_variance_ratio = ratio_p;
  }
  comparison.unequal_variance = ratio_p < kVarianceRatioAlpha;
  comparison.test =
      comparison.unequal_variance
          ? stats::WelchTest(new_floored, old_floored)
          : stats::ModeratedTest(new_runs, old_runs, prior, OwnFloor(new_runs, old_runs, floor));
  return comparison;
}

std::string_view VarianceBasis(const Comparison& comparison, double own_df, double prior_df) {
  if (!comparison.Tested()) return "none";
  if (comparison.unequal_variance || !(prior_df > 0.0)) return "own";
  return own_df > 0.0 ? "pooled" : "family";
}

// Everything that is known before any test: copies, margin and error rates in force.
MetricDecision Describe(const MetricInput& input) {
  MetricDecision decision;
  decision.name = input.name;
  decision.unit = input.unit;
  decision.primary = input.primary;
  decision.history = input.history;
  decision.reruns = input.reruns;
  decision.variance_basis = "none";
  decision.alpha_drift = input.alpha_drift;
  decision.alpha_equivalence =
      input.reruns.size() == 1 ? input.alpha_equivalence / 2.0 : input.alpha_equivalence;
  if (input.margin.has_value()) {
    if (*input.margin > 0.0 && std::isfinite(*input.margin)) decision.margin = *input.margin;
  } else if (const auto prior = UsablePrior(input.prior); prior.df > 0.0) {
    decision.margin = kDefaultMarginInPriorDeviations * std::sqrt(prior.s0_squared);
    decision.default_margin = true;
  }
  return decision;
}

// Decides cases that no test can; true when it did.
bool DecideValidity(const MetricInput& input, MetricDecision* decision) {
  const auto stop = [&](MetricVerdict verdict, std::string_view reason) {
    decision->verdict = verdict;
    AddReason(reason, decision);
    return true;
  };
  if (!IsUsableAlpha(input.alpha_drift) || !IsUsableAlpha(input.alpha_equivalence)) {
    return stop(MetricVerdict::kInconclusive, "invalid_alpha");
  }
  if (input.history.empty()) return stop(MetricVerdict::kInconclusive, "no_history");
  if (!AllFinite(input.history)) return stop(MetricVerdict::kInconclusive, "non_finite_history");
  if (!AllFinite(input.reruns)) return stop(MetricVerdict::kDrifted, "non_finite");
  if (input.reruns.empty()) return stop(MetricVerdict::kInconclusive, "missing");
  return false;
}

void RecordTest(const MetricInput& input, const Comparison& comparison, MetricDecision* decision) {
  decision->mean_history = stats::ComputeMoments(input.history).mean;
  decision->difference = comparison.test.difference;
  decision->variance_ratio = comparison.variance_ratio;
  decision->p_variance_ratio = comparison.p_variance_ratio;
  const auto n = static_cast<double>(input.history.size());
  const auto k = static_cast<double>(input.reruns.size());
  decision->variance_basis = VarianceBasis(comparison, n + k - 2.0, UsablePrior(input.prior).df);
  if (!comparison.Tested()) return;
  const MeanTest& test = comparison.test;
  RecordTest(test, std::sqrt(1.0 / n + 1.0 / k), decision);
}

// The shift remains without the rerun farthest in its direction: same sign, p < 0.10.
bool SurvivesWithoutMostExtreme(const MetricInput& input, double difference) {
  std::vector<double> rest = input.reruns;
  rest.erase(difference > 0.0 ? std::max_element(rest.begin(), rest.end())
                              : std::min_element(rest.begin(), rest.end()));
  const Comparison without =
      CompareMeans(input.history, rest, UsablePrior(input.prior), VarianceFloor(input.quantum));
  return without.Tested() && without.test.difference * difference > 0.0 &&
         without.test.p_two_sided < kGuardAlpha;
}

// Smallest number of further reruns with 80 % power of a decision, given the observed deviation: of
// equivalence if nothing changed, or of drift if the estimate is already at the margin.
int MoreReruns(const MetricInput& input, const MetricDecision& decision) {
  const bool aims_at_drift = std::fabs(decision.difference) >= kNearMargin * decision.margin;
  const auto reaches = [&](int more) {
    const double total = static_cast<double>(input.reruns.size()) + more;
    const double se = decision.standard_deviation *
                      std::sqrt(1.0 / static_cast<double>(input.history.size()) + 1.0 / total);
    const double df = decision.df + more;
    const double power =
        aims_at_drift ? stats::TwoSidedPower(decision.difference / se, df, input.alpha_drift)
                      : stats::TostPower(decision.margin, 0.0, se, df, input.alpha_equivalence);
    return power >= kTargetPower;
  };
  if (!reaches(kMaxMoreReruns)) return 0;
  int short_of = 0;
  int enough = kMaxMoreReruns;
  while (enough - short_of > 1) {
    const int middle = (short_of + enough) / 2;
    (reaches(middle) ? enough : short_of) = middle;
  }
  return enough;
}

// The difference test rejected and equivalence was not shown.
void DecideDrift(const MetricInput& input, MetricDecision* decision) {
  if (input.reruns.size() == 1) {
    decision->verdict = MetricVerdict::kNeedsConfirmation;
    decision->more_reruns = 1;
    return;
  }
  if (!SurvivesWithoutMostExtreme(input, decision->difference)) {
    AddReason("one_rerun_decides", decision);
    decision->more_reruns = MoreReruns(input, *decision);
    return;
  }
  decision->verdict = MetricVerdict::kDrifted;
  const stats::Interval interval{decision->ci_low, decision->ci_high};
  if (decision->margin > 0.0 && stats::IsOutside(interval, -decision->margin, decision->margin)) {
    AddReason("material", decision);
  }
  if (input.history.size() == 1) AddReason("single_reference", decision);
}

void DecideByTest(const MetricInput& input, MetricDecision* decision) {
  const bool differs = decision->p_difference < input.alpha_drift;
  const stats::Interval interval{decision->ci_low, decision->ci_high};
  if (decision->margin > 0.0 && stats::IsInside(interval, -decision->margin, decision->margin)) {
    decision->verdict = MetricVerdict::kWithin;
    if (differs) AddReason("detectable_shift", decision);
    return;
  }
  if (differs) {
    DecideDrift(input, decision);
    return;
  }
  if (!(decision->margin > 0.0)) AddReason("no_margin", decision);
  decision->more_reruns = MoreReruns(input, *decision);
}

}  // namespace

void AddReason(std::string_view token, MetricDecision* decision) {
  if (!decision->reason.empty()) decision->reason += ',';
  decision->reason += token;
}

void RecordTest(const stats::MeanTest& test, double per_deviation, MetricDecision* decision) {
  decision->standard_error = test.standard_error;
  decision->standard_deviation = test.standard_error / per_deviation;
  decision->df = test.df;
  decision->t = test.t;
  decision->p_difference = test.p_two_sided;
  const stats::Interval interval =
      stats::ConfidenceInterval(test, 2.0 * decision->alpha_equivalence);
  decision->ci_low = interval.low;
  decision->ci_high = interval.high;
  decision->power = stats::TostPower(decision->margin, 0.0, test.standard_error, test.df,
                                     decision->alpha_equivalence);
  decision->minimum_detectable =
      test.standard_error *
      stats::DetectableNoncentrality(test.df, decision->alpha_drift, kTargetPower);
}

VariancePrior FitVariancePrior(const std::vector<double>& variances,
                               const std::vector<double>& dfs) {
  std::vector<double> usable;
  std::vector<double> usable_dfs;
  double total_df = 0.0;
  for (std::size_t i = 0; i < std::min(variances.size(), dfs.size()); ++i) {
    const bool informative =
        variances[i] > 0.0 && std::isfinite(variances[i]) && dfs[i] >= 1.0 && std::isfinite(dfs[i]);
    if (!informative) continue;
    usable.push_back(variances[i]);
    usable_dfs.push_back(dfs[i]);
    total_df += dfs[i];
  }
  const auto configurations = static_cast<int>(usable.size());
  if (configurations < kMinFamilyConfigurations || total_df < kMinFamilyDf) return {};
  const stats::ScaledInverseChiSquared fit = stats::FitScaledInverseChiSquared(usable, usable_dfs);
  return {fit.s0_squared, std::min(fit.df, kMostFittedDf), configurations};
}

std::string_view MetricVerdictName(MetricVerdict verdict) {
  switch (verdict) {
    case MetricVerdict::kWithin:
      return "within";
    case MetricVerdict::kDrifted:
      return "drifted";
    case MetricVerdict::kNeedsConfirmation:
      return "needs_confirmation";
    case MetricVerdict::kInconclusive:
      break;
  }
  return "inconclusive";
}

MetricDecision DecideMetric(const MetricInput& input) {
  MetricDecision decision = Describe(input);
  if (DecideValidity(input, &decision)) return decision;
  const Comparison comparison =
      CompareMeans(input.history, input.reruns, UsablePrior(input.prior), VarianceFloor(input));
  RecordTest(input, comparison, &decision);
  if (input.missing > 0) {
    AddReason("missing", &decision);
    return decision;
  }
  if (!comparison.Tested()) {
    AddReason("no_variance_basis", &decision);
    return decision;
  }
  if (comparison.unequal_variance) AddReason("unequal_variance", &decision);
  DecideByTest(input, &decision);
  return decision;
}

}  // namespace rharness
