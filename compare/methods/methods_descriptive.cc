// Methods: moments, shrinkage, and the rules and rates of others.
#include <cmath>
#include <cstddef>

#include "compare/methods/families.h"
#include "compare/metrics/decision.h"
#include "compare/stats/benchmark_rules.h"
#include "compare/stats/moments.h"
#include "compare/stats/proportions.h"
#include "compare/stats/shrinkage.h"

namespace rharness {
namespace {

Result<Json> MeanSdLag1(const Inputs& in) {
  const stats::Moments moments = stats::ComputeMoments(in.List("values"));
  return Object({{"mean", moments.mean},
                 {"sd_n_minus_1", std::sqrt(moments.Variance())},
                 {"lag1_autocorr", stats::Lag1Autocorrelation(in.List("values"))}});
}

Result<Json> Olympic(const Inputs& in) {
  if (in.List("x").size() <= 2 * static_cast<std::size_t>(in.Count("reject"))) {
    return InvalidInput("more values than 2 * reject are needed", "$.reject");
  }
  return Object({{"mean", stats::OlympicMean(in.List("x"), in.Count("reject"))}});
}

Result<Json> Mlperf(const Inputs& in) {
  const auto runs = static_cast<int>(in.List("epochs").size());
  if (runs <= 2 * in.Count("reject")) {
    return InvalidInput("more runs than 2 * reject are needed", "$.reject");
  }
  if (runs - 2 * in.Count("reject") + in.Count("submission_runs") - 4 < 1) {
    return InvalidInput("too few runs for a test of two means", "$.submission_runs");
  }
  const auto reference = stats::MlperfReference(in.List("epochs"), in.Count("submission_runs"),
                                                in.Count("reject"), in.Number("alpha"));
  return Object({{"rcp_mean", reference.mean},
                 {"rcp_std_pop", reference.standard_deviation},
                 {"min_epochs", reference.min_epochs},
                 {"max_speedup", reference.max_speedup}});
}

Result<Json> Reframe(const Inputs& in) {
  const auto side = [&](std::string_view key) {
    return in.Has(key) ? std::optional<double>(in.Number(key)) : std::nullopt;
  };
  const stats::Interval bounds =
      stats::ReframeBounds(in.Number("ref"), side("lower"), side("upper"));
  return Object({{"low", bounds.low}, {"high", bounds.high}});
}

Result<Json> EffectiveSize(const Inputs& in) {
  return Object({{"n_eff", stats::EffectiveSampleSizeAr1(in.Number("n"), in.Number("rho"))}});
}

Result<Json> Burn(const Inputs& in) {
  if (in.Number("bad") > in.Number("total")) {
    return InvalidInput("more bad events than events", "$.bad");
  }
  return Object(
      {{"burn_rate", stats::BurnRate(in.Number("bad"), in.Number("total"), in.Number("slo"))}});
}

Result<Json> BurnThreshold(const Inputs& in) {
  return Object({{"burn_rate",
                  stats::BurnRateThreshold(in.Number("budget_fraction"), in.Number("window_hours"),
                                           in.Number("period_hours"))}});
}

Status CheckFamily(const Inputs& in) {
  if (in.List("s_sq").size() == in.List("df").size()) return {};
  return InvalidInput("as many df as variances are needed", "$.df");
}

Result<Json> Shrinkage(const Inputs& in) {
  RETURN_IF_ERROR(CheckFamily(in));
  const std::vector<double>& variances = in.List("s_sq");
  const auto fit = stats::FitScaledInverseChiSquared(variances, in.List("df"));
  std::vector<double> posterior;
  for (std::size_t i = 0; i < variances.size(); ++i) {
    posterior.push_back(stats::PosteriorVariance(fit, variances[i], in.List("df")[i]));
  }
  return Object({{"d0", fit.df}, {"s0_sq", fit.s0_squared}, {"posterior_var", Numbers(posterior)}});
}

Result<Json> FamilyPrior(const Inputs& in) {
  RETURN_IF_ERROR(CheckFamily(in));
  const VariancePrior prior = FitVariancePrior(in.List("s_sq"), in.List("df"));
  return Object(
      {{"d0", prior.df}, {"s0_sq", prior.s0_squared}, {"configurations", prior.configurations}});
}

std::vector<InputSpec> FamilyInputs(Range variances) {
  return {
      NumbersInput("s_sq", "variance of each configuration, metric units squared", variances, 2),
      NumbersInput("df", "their degrees of freedom", {1.0, kMostTrials}, 2)};
}

}  // namespace

std::vector<Method> DescriptiveMethods() {
  return {
      {"mean_sd_lag1",
       "mean, standard deviation and lag-1 autocorrelation",
       {NumbersInput("values", "values, metric units", kAnyNumber, 2),
        TextInput("dataset", "a label", {}).Optional()},
       MeanSdLag1},
      {"olympic_mean",
       "mean without the smallest and the largest values",
       {NumbersInput("x", "values", kAnyNumber, 1),
        CountInput("reject", "left out on each side", 0, kMostValues)},
       Olympic},
      {"mlperf_rcp",
       "smallest acceptable mean of epochs by MLPerf's reference points",
       {NumbersInput("epochs", "of the reference runs, epochs", kPositive, 3),
        CountInput("submission_runs", "runs of a submission", 3, 1e6),
        CountInput("reject", "left out on each side", 0, 1e4),
        NumberInput("alpha", "one-sided error rate", kErrorRate)},
       Mlperf},
      {"reframe_reference_bounds",
       "bounds of a ReFrame reference; null leaves a side open",
       {NumberInput("ref", "reference, metric units", kAnyNumber),
        NumberInput("lower", "fraction of |ref|, or absolute when ref is 0", kAnyNumber).Optional(),
        NumberInput("upper", "likewise", kAnyNumber).Optional()},
       Reframe,
       true},
      {"effective_sample_size_ar1",
       "independent values worth as much as an AR(1) series",
       {NumberInput("n", "values", {1.0, 1e15}),
        NumberInput("rho", "lag-1 autocorrelation", {-1.0, 1.0, true, true})},
       EffectiveSize},
      {"burn_rate",
       "share of bad events over the share that the objective allows",
       {NumberInput("bad", "bad events", kNotNegative), NumberInput("total", "events", kPositive),
        NumberInput("slo", "objective, a share", {0.0, 1.0, false, true})},
       Burn},
      {"burn_rate_threshold",
       "burn rate that spends a share of the budget within a window",
       {NumberInput("budget_fraction", "share of the budget", kFrom0To1),
        NumberInput("window_hours", "hours", kPositive),
        NumberInput("period_hours", "hours", kPositive)},
       BurnThreshold},
      {"ebayes_variance_shrinkage", "family variance by Smyth's moments, and each one shrunk to it",
       FamilyInputs(kPositive), Shrinkage, true},
      {"family_variance_prior",
       "the same as the decisions use it: five configurations or none, d0 at most 30",
       FamilyInputs(kNotNegative), FamilyPrior},
  };
}

}  // namespace rharness
