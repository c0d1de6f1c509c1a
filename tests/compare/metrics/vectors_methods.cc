// How to run each method of the reference vectors: a table from method name to a few lines.
#include "tests/compare/metrics/vectors_methods.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "compare/metrics/decision.h"
#include "compare/stats/benchmark_rules.h"
#include "compare/stats/change_points.h"
#include "compare/stats/equivalence.h"
#include "compare/stats/intervals.h"
#include "compare/stats/mcnemar.h"
#include "compare/stats/multiplicity.h"
#include "compare/stats/power.h"
#include "compare/stats/proportions.h"
#include "compare/stats/ranks.h"
#include "compare/stats/sequential.h"
#include "compare/stats/shrinkage.h"
#include "compare/stats/student_t.h"
#include "tests/compare/metrics/vectors_json.h"

namespace rharness {
namespace {

using stats::Interval;
using stats::MeanTest;
using stats::Moments;

Moments FromSd(double mean, double sd, double n) { return {n, mean, sd * sd * (n - 1.0)}; }

Moments Group(const Json& in, const std::string& which) {
  return FromSd(Num(in, "m" + which), Num(in, "sd" + which), Num(in, "n" + which));
}

MeanTest TestOfLists(const Json& in, bool welch) {
  const Moments x = stats::ComputeMoments(List(in, "x"));
  const Moments y = stats::ComputeMoments(List(in, "y"));
  return welch ? stats::WelchTest(x, y) : stats::PooledTest(x, y);
}

Json OfTest(const MeanTest& test) {
  const Interval ci95 = stats::ConfidenceInterval(test, 0.05);
  const Interval ci90 = stats::ConfidenceInterval(test, 0.10);
  return Object({{"t", test.t},
                 {"df", test.df},
                 {"p_two_sided", test.p_two_sided},
                 {"ci95_low", ci95.low},
                 {"ci95_high", ci95.high},
                 {"ci90_low", ci90.low},
                 {"ci90_high", ci90.high}});
}

Json OfTost(const Json& in, const MeanTest& test) {
  const stats::TostResult tost = stats::Tost(test, Num(in, "low"), Num(in, "high"));
  const Interval ci90 = stats::ConfidenceInterval(test, 0.10);
  return Object({{"p_tost", tost.p},
                 {"t_lower", tost.t_lower},
                 {"p_lower", tost.p_lower},
                 {"t_upper", tost.t_upper},
                 {"p_upper", tost.p_upper},
                 {"df", test.df},
                 {"ci90_low", ci90.low},
                 {"ci90_high", ci90.high},
                 {"equivalent_at_0.05", stats::IsInside(ci90, Num(in, "low"), Num(in, "high"))}});
}

Json ModeratedT(const Json& in) {
  Moments old_runs{Num(in, "n"), Num(in, "mean_hist"), Num(in, "s_sq") * Num(in, "df")};
  const Moments new_runs{Num(in, "k"), Num(in, "mean_new"), 0.0};
  const stats::ScaledInverseChiSquared prior{Num(in, "s0_sq"), Num(in, "d0")};
  const MeanTest test = stats::ModeratedTest(new_runs, old_runs, prior, 0.0);
  Json out = OfTest(test);
  out.Set("s_post_sq", test.standard_error * test.standard_error /
                           (1.0 / old_runs.count + 1.0 / new_runs.count));
  return out;
}

Json DesignVerdict(const Json& in) {
  MetricInput input;
  input.history = List(in, "hist");
  input.reruns = List(in, "new");
  input.margin = Num(in, "delta");
  input.quantum = Num(in, "quantum");
  input.prior = {Num(in, "s0_sq"), Num(in, "d0"), 0};
  input.alpha_drift = Num(in, "alpha_drift");
  input.alpha_equivalence = Num(in, "alpha_equiv");
  const MetricDecision decision = DecideMetric(input);
  const bool within = decision.verdict == MetricVerdict::kWithin;
  return Object({{"verdict", within ? "within_band" : MetricVerdictName(decision.verdict)},
                 {"reason", decision.reason},
                 {"t", decision.t},
                 {"df", decision.df},
                 {"p_difference", decision.p_difference},
                 {"ci_low", decision.ci_low},
                 {"ci_high", decision.ci_high}});
}

Json Shrinkage(const Json& in) {
  const std::vector<double> variances = List(in, "s_sq");
  const std::vector<double> dfs = List(in, "df");
  const auto fit = stats::FitScaledInverseChiSquared(variances, dfs);
  std::vector<double> posterior;
  for (std::size_t i = 0; i < variances.size(); ++i) {
    posterior.push_back(stats::PosteriorVariance(fit, variances[i], dfs[i]));
  }
  return Object({{"d0", fit.df}, {"s0_sq", fit.s0_squared}, {"posterior_var", Numbers(posterior)}});
}

Json BinomialIntervals(const Json& in) {
  const double x = Num(in, "x");
  const double n = Num(in, "n");
  const double alpha = Num(in, "alpha");
  const Interval exact = stats::ClopperPearson(x, n, alpha);
  const Interval wilson = stats::Wilson(x, n, alpha);
  const Interval jeffreys = stats::Jeffreys(x, n, alpha);
  return Object({{"clopper_pearson_low", exact.low},
                 {"clopper_pearson_high", exact.high},
                 {"wilson_low", wilson.low},
                 {"wilson_high", wilson.high},
                 {"jeffreys_low", jeffreys.low},
                 {"jeffreys_high", jeffreys.high}});
}

Json MultipleTesting(const Json& in) {
  const std::string method = in.Find("method")->AsString();
  const std::vector<double> adjusted = method == "bonferroni"
                                           ? stats::AdjustBonferroni(List(in, "p"))
                                           : stats::AdjustBenjaminiHochberg(List(in, "p"));
  const auto rejected = std::count_if(adjusted.begin(), adjusted.end(),
                                      [&](double p) { return p <= Num(in, "alpha"); });
  return Object({{"adjusted", Numbers(adjusted)}, {"rejected", rejected}});
}

Json Cusum(const Json& in) {
  const stats::Cusum cusum =
      stats::TabularCusum(List(in, "x"), Num(in, "mu"), Num(in, "k"), Num(in, "h"));
  return Object({{"s_hi", Numbers(cusum.high)},
                 {"s_lo", Numbers(cusum.low)},
                 {"first_alarm_1based", cusum.first_alarm ? *cusum.first_alarm + 1 : 0}});
}

Json EnergySplit(const Json& in) {
  const stats::EnergySplit split = stats::BestEnergySplit(
      List(in, "x"), Num(in, "alpha_exponent"), static_cast<std::size_t>(Num(in, "min_segment")));
  return Object({{"best_split", split.best},
                 {"q", *std::max_element(split.q.begin(), split.q.end())},
                 {"q_all_from_2", Numbers(split.q)}});
}

Json MeanSdLag1(const Json& in) {
  const std::vector<double> values = List(in, "values");
  const Moments moments = stats::ComputeMoments(values);
  return Object({{"mean", moments.mean},
                 {"sd_n_minus_1", std::sqrt(moments.Variance())},
                 {"lag1_autocorr", stats::Lag1Autocorrelation(values)}});
}

Json Mlperf(const Json& in) {
  const auto reference = stats::MlperfReference(List(in, "epochs"), Int(in, "submission_runs"),
                                                Int(in, "reject"), Num(in, "alpha"));
  return Object({{"rcp_mean", reference.mean},
                 {"rcp_std_pop", reference.standard_deviation},
                 {"min_epochs", reference.min_epochs},
                 {"max_speedup", reference.max_speedup}});
}

Json Mixture(const Json& in) {
  const auto test = stats::NormalMixtureTest(Num(in, "xbar"), Num(in, "n"), Num(in, "sigma"),
                                             Num(in, "tau"), Num(in, "alpha"));
  return Object({{"e_value", test.e_value},
                 {"always_valid_p_at_n", test.p},
                 {"ci_halfwidth", test.interval_half_width}});
}

Json GroupSequential(const Json& in) {
  const auto shape = in.Find("kind")->AsString() == "obf" ? stats::BoundaryShape::kObrienFleming
                                                          : stats::BoundaryShape::kPocock;
  return Object(
      {{"c", stats::GroupSequentialConstant(Int(in, "K"), shape, Num(in, "alpha_two_sided"))}});
}

Json TostSize(const std::optional<stats::SampleSize>& size, const std::string& key) {
  if (!size) return Object({});
  return Object({{key, size->k}, {"power", size->power}});
}

Json Reframe(const Json& in) {
  const auto side = [&](std::string_view key) {
    const Json* member = in.Find(key);
    return member->IsNull() ? std::optional<double>() : member->ToDouble();
  };
  const Interval bounds = stats::ReframeBounds(Num(in, "ref"), side("lower"), side("upper"));
  return Object({{"low", bounds.low}, {"high", bounds.high}});
}

Json OfMcNemar(const Json& in) {
  const auto result = stats::McNemar(Num(in, "b"), Num(in, "c"));
  return Object({{"p_exact", result.p_exact},
                 {"chi2_nocorr", result.chi_squared},
                 {"p_chi2_nocorr", result.p_chi_squared}});
}

Json TwoSampleSizeOf(const Json& in) {
  const double n = stats::TwoSampleSize(Num(in, "d"), Num(in, "alpha"), Num(in, "power"));
  return Object({{"n_per_arm", n}, {"n_ceil", std::ceil(n)}});
}

Json TostOfLists(const Json& in) {
  return OfTost(in, TestOfLists(in, in.Find("usevar")->AsString() == "unequal"));
}

Json TostOfStats(const Json& in) {
  const bool pooled = in.Find("equal_var")->AsBool();
  return OfTost(in, pooled ? stats::PooledTest(Group(in, "1"), Group(in, "2"))
                           : stats::WelchTest(Group(in, "1"), Group(in, "2")));
}

Json BalancedSize(const Json& in) {
  return TostSize(stats::TostSampleSizeBalanced(Num(in, "delta_over_sigma"), Num(in, "alpha"),
                                                Num(in, "power"), 100),
                  "k_per_arm");
}

Json FixedHistorySize(const Json& in) {
  return TostSize(
      stats::TostSampleSize(Int(in, "n_hist"), Num(in, "prior_df"), Num(in, "delta_over_sigma"),
                            Num(in, "alpha"), Num(in, "power"), 100),
      "k");
}

Json Combined(const Json& in) {
  const auto combined = stats::CombineFisher(List(in, "p"));
  return Object({{"statistic", combined.statistic}, {"p", combined.p}});
}

Json MannWhitney(const Json& in) {
  const auto result = stats::MannWhitneyExact(List(in, "x"), List(in, "y"));
  return Object({{"U_x", result.u}, {"p_two_sided", result.p_two_sided}});
}

Json WilksOneSided(const Json& in) {
  return Object({{"n", stats::WilksSampleSize(Num(in, "coverage"), Num(in, "confidence"),
                                              Int(in, "order"))}});
}

Json WilksTwoSided(const Json& in) {
  return Object(
      {{"n", stats::WilksSampleSizeTwoSided(Num(in, "coverage"), Num(in, "confidence"))}});
}

Json BernoulliLines(const Json& in) {
  const auto lines =
      stats::BernoulliSprtLines(Num(in, "p1"), Num(in, "p2"), Num(in, "alpha"), Num(in, "beta"));
  return Object({{"h1", lines.h1}, {"h2", lines.h2}, {"s", lines.s}});
}

Json Thresholds(const Json& in) {
  const auto thresholds = stats::WaldThresholds(Num(in, "alpha"), Num(in, "beta"));
  return Object({{"log_A", thresholds.log_a}, {"log_B", thresholds.log_b}});
}

// A tolerance factor whose standard deviation comes from the same n values as its mean.
VectorMethod OnOwnDf(double (*factor)(double, double, double, double)) {
  return [factor](const Json& in) {
    const double n = Num(in, "n");
    return Object({{"k", factor(n, n - 1.0, Num(in, "coverage"), Num(in, "confidence"))}});
  };
}

std::map<std::string, VectorMethod> TestMethods() {
  return {
      {"design_verdict", DesignVerdict},
      {"ebayes_variance_shrinkage", Shrinkage},
      {"moderated_t", ModeratedT},
      {"student_t_from_stats",
       [](const Json& in) { return OfTest(stats::PooledTest(Group(in, "1"), Group(in, "2"))); }},
      {"welch_t_from_stats",
       [](const Json& in) { return OfTest(stats::WelchTest(Group(in, "1"), Group(in, "2"))); }},
      {"welch_t", [](const Json& in) { return OfTest(TestOfLists(in, true)); }},
      {"tost_ind", TostOfLists},
      {"tost_ind_from_stats", TostOfStats},
      {"tost_paired",
       [](const Json& in) { return OfTost(in, stats::PairedTest(List(in, "x"), List(in, "y"))); }},
      {"tost_power_exact",
       Scalar("power", stats::TostPower, {"delta", "theta", "se", "df", "alpha"})},
      {"tost_sample_size_balanced", BalancedSize},
      {"tost_sample_size_fixed_n", FixedHistorySize},
      {"two_sample_t_sample_size", TwoSampleSizeOf},
      {"mcnemar", OfMcNemar},
      {"multiple_testing", MultipleTesting},
      {"combine_pvalues", Combined},
      {"mann_whitney_exact", MannWhitney},
  };
}

std::map<std::string, VectorMethod> DescriptiveMethods() {
  return {
      {"mean_sd_lag1", MeanSdLag1},
      {"mlperf_rcp", Mlperf},
      {"olympic_mean",
       [](const Json& in) {
         return Object({{"mean", stats::OlympicMean(List(in, "x"), Int(in, "reject"))}});
       }},
      {"reframe_reference_bounds", Reframe},
      {"effective_sample_size_ar1", Scalar("n_eff", stats::EffectiveSampleSizeAr1, {"n", "rho"})},
      {"burn_rate", Scalar("burn_rate", stats::BurnRate, {"bad", "total", "slo"})},
      {"burn_rate_threshold", Scalar("burn_rate", stats::BurnRateThreshold,
                                     {"budget_fraction", "window_hours", "period_hours"})},
  };
}

std::map<std::string, VectorMethod> BandMethods() {
  return {
      {"binomial_ci", BinomialIntervals},
      {"clopper_pearson_lower_one_sided",
       Scalar("low", stats::ClopperPearsonLower, {"x", "n", "confidence"})},
      {"prediction_factor_all_m_bonferroni",
       Scalar("factor", stats::PredictionFactorAll, {"n", "m", "alpha", "df"})},
      {"prediction_factor_mean_of_m",
       Scalar("factor", stats::PredictionFactorMean, {"n", "m", "alpha", "df"})},
      {"tolerance_k1_natrella",
       Scalar("k", stats::ToleranceFactorOneSidedNatrella, {"n", "coverage", "confidence"})},
      {"tolerance_k1_noncentral_t",
       Scalar("k", stats::ToleranceFactorOneSided, {"n", "coverage", "confidence"})},
      {"tolerance_k2_exact", OnOwnDf(stats::ToleranceFactorExact)},
      {"tolerance_k2_exact_pooled_df",
       Scalar("k", stats::ToleranceFactorExact, {"n", "df", "coverage", "confidence"})},
      {"tolerance_k2_howe", OnOwnDf(stats::ToleranceFactorHowe)},
      {"tolerance_k2_howe_pooled_df",
       Scalar("k", stats::ToleranceFactorHowe, {"n", "df", "coverage", "confidence"})},
      {"wilks_n_one_sided", WilksOneSided},
      {"wilks_n_two_sided_minmax", WilksTwoSided},
      {"wilks_confidence_two_sided_minmax",
       Scalar("confidence", stats::WilksConfidenceTwoSided, {"n", "coverage"})},
  };
}

std::map<std::string, VectorMethod> SequentialMethods() {
  return {
      {"cusum_tabular", Cusum},
      {"edivisive_single_split", EnergySplit},
      {"group_sequential_constant", GroupSequential},
      {"lan_demets_obf_spend",
       Scalar("cumulative_alpha", stats::LanDeMetsSpent, {"t", "alpha_two_sided"})},
      {"msprt_normal", Mixture},
      {"sprt_bernoulli_lines", BernoulliLines},
      {"sprt_normal_llr",
       [](const Json& in) {
         return Object(
             {{"llr", stats::NormalLogLikelihoodRatio(List(in, "x"), Num(in, "theta0"),
                                                      Num(in, "theta1"), Num(in, "sigma"))}});
       }},
      {"sprt_thresholds", Thresholds},
  };
}

}  // namespace

const std::map<std::string, VectorMethod>& VectorMethods() {
  static const std::map<std::string, VectorMethod> methods = [] {
    std::map<std::string, VectorMethod> all = TestMethods();
    all.merge(DescriptiveMethods());
    all.merge(BandMethods());
    all.merge(SequentialMethods());
    return all;
  }();
  return methods;
}

}  // namespace rharness
