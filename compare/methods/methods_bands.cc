// Methods: intervals for proportions, prediction and tolerance bands.
#include "compare/methods/families.h"
#include "compare/metrics/bands.h"
#include "compare/metrics/reproducible_rate.h"
#include "compare/stats/intervals.h"
#include "compare/stats/proportions.h"

namespace rharness {
namespace {

using stats::Interval;

constexpr double kMostForNoncentralT = 10000.0;

Status CheckTrials(const Inputs& in) {
  if (in.Number("x") <= in.Number("n")) return {};
  return InvalidInput("more successes than trials", "$.x");
}

Result<Json> Binomial(const Inputs& in) {
  RETURN_IF_ERROR(CheckTrials(in));
  const double x = in.Number("x");
  const double n = in.Number("n");
  const double alpha = in.Number("alpha");
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

Result<Json> LowerOneSided(const Inputs& in) {
  RETURN_IF_ERROR(CheckTrials(in));
  return Object({{"low", stats::ClopperPearsonLower(in.Number("x"), in.Number("n"),
                                                    in.Number("confidence"))}});
}

// A tolerance factor of n, df, coverage and confidence; df is n - 1 unless it is an input.
Method ToleranceMethod(std::string name, std::string description,
                       double (*factor)(double, double, double, double), bool pooled) {
  std::vector<InputSpec> inputs = {
      CountInput("n", "values behind the mean", pooled ? 1 : 2, kMostTrials),
      NumberInput("coverage", "share of all values to hold", {0.01, 0.999999}),
      NumberInput("confidence", "that it does", {0.01, 0.999999})};
  if (pooled) {
    inputs.push_back(NumberInput("df", "behind the standard deviation", {1.0, kMostTrials}));
  }
  return {std::move(name), std::move(description), std::move(inputs),
          [factor, pooled](const Inputs& in) -> Result<Json> {
            const double df = pooled ? in.Number("df") : in.Number("n") - 1.0;
            return Object({{"k", factor(in.Number("n"), df, in.Number("coverage"),
                                        in.Number("confidence"))}});
          }};
}

Method OneSidedMethod(std::string name, std::string description,
                      double (*factor)(double, double, double)) {
  return {std::move(name),
          std::move(description),
          {CountInput("n", "values", 2, kMostForNoncentralT),
           NumberInput("coverage", "share of all values to bound", {0.01, 0.9999}),
           NumberInput("confidence", "that it does", {0.01, 0.9999})},
          [factor](const Inputs& in) -> Result<Json> {
            return Object(
                {{"k", factor(in.Number("n"), in.Number("coverage"), in.Number("confidence"))}});
          }};
}

Method PredictionMethod(std::string name, std::string description,
                        double (*factor)(double, double, double, double)) {
  return {std::move(name),
          std::move(description),
          {CountInput("n", "values behind the mean", 1, kMostTrials),
           CountInput("m", "further values", 1, 1e6),
           NumberInput("alpha", "two-sided error rate", kBetween0And1),
           NumberInput("df", "behind the standard deviation", {0.5, kMostTrials})},
          [factor](const Inputs& in) -> Result<Json> {
            return Object({{"factor", factor(in.Number("n"), in.Number("m"), in.Number("alpha"),
                                             in.Number("df"))}});
          }};
}

Result<Json> WilksSize(const std::optional<int>& n) {
  if (!n) return InvalidInput("not even a million values are enough", "$.coverage");
  return Object({{"n", *n}});
}

Result<Json> OfBand(const Result<Band>& band) {
  if (!band.ok()) return band.error();
  return Object({{"low", band->low},
                 {"high", band->high},
                 {"mean", band->mean},
                 {"sd", band->standard_deviation},
                 {"df", band->df},
                 {"factor", band->factor},
                 {"confidence", band->confidence},
                 {"method", band->method}});
}

BandHistory HistoryOf(const Inputs& in) {
  BandHistory history;
  history.values = in.List("hist");
  history.prior = {in.NumberOr("s0_sq", 0.0), in.NumberOr("d0", 0.0), 0};
  history.quantum = in.NumberOr("quantum", 0.0);
  return history;
}

std::vector<InputSpec> BandInputs(std::vector<InputSpec> more) {
  more.insert(
      more.begin(),
      {NumbersInput("hist", "historical values, one a run, metric units", kAnyNumber, 1),
       NumberInput("s0_sq", "family variance, metric units squared", kNotNegative).Optional(),
       NumberInput("d0", "its degrees of freedom, capped at 30", kNotNegative).Optional(),
       NumberInput("quantum", "resolution, metric units", kNotNegative).Optional()});
  return more;
}

Result<Json> Rate(const Inputs& in) {
  const VerdictCounts counts{in.Count("good"), in.Count("bad"), in.Count("inconclusive")};
  ASSIGN_OR_RETURN(const ReproducibleRate rate, RateOf(counts, in.NumberOr("alpha_drift", 0.01)));
  return Object({{"rate", rate.rate},
                 {"wilson_low", rate.wilson.low},
                 {"wilson_high", rate.wilson.high},
                 {"lower_bound", rate.lower_bound},
                 {"inconclusive_rate", rate.inconclusive_rate},
                 {"worst_case_rate", rate.worst_case_rate},
                 {"worst_case_lower_bound", rate.worst_case_lower_bound},
                 {"corrected_bad_rate", rate.corrected_bad_rate}});
}

Result<Json> BurnAlarmOf(const Inputs& in) {
  const BurnAlarm alarm = in.Text("alarm") == "page" ? kPageAlarm : kTicketAlarm;
  ASSIGN_OR_RETURN(
      const BurnDecision decision,
      DecideBurn(alarm, in.Number("slo"), {in.Count("long_good"), in.Count("long_bad")},
                 {in.Count("short_good"), in.Count("short_bad")}));
  return Object({{"fires", decision.fires},
                 {"threshold", decision.threshold},
                 {"long_burn", decision.long_burn},
                 {"short_burn", decision.short_burn},
                 {"long_lower", decision.long_lower},
                 {"enough_checks", decision.enough_checks}});
}

std::vector<Method> ProportionMethods() {
  const InputSpec x = CountInput("x", "successes", 0, kMostTrials);
  const InputSpec n = CountInput("n", "trials", 1, kMostTrials);
  return {
      {"binomial_ci",
       "two-sided intervals for a proportion: Clopper-Pearson, Wilson, Jeffreys",
       {x, n, NumberInput("alpha", "error rate of both sides together", {1e-9, 0.999})},
       Binomial},
      {"clopper_pearson_lower_one_sided",
       "exact lower bound of a proportion",
       {x, n, NumberInput("confidence", "one-sided", {0.5, 1.0, true, true})},
       LowerOneSided},
      {"reproducible_rate",
       "share of reproduced runs with its bounds, and the inconclusive share",
       {CountInput("good", "runs that reproduced", 0, kMostTrials),
        CountInput("bad", "runs that drifted", 0, kMostTrials),
        CountInput("inconclusive", "runs that showed neither", 0, kMostTrials),
        NumberInput("alpha_drift", "false alarms among good runs (0.01)", {0.0, 0.5, false, true})
            .Optional()},
       Rate},
      {"burn_alarm",
       "does the error budget of reproducible runs burn too fast?",
       {TextInput("alarm", "page: 10 % in a day; ticket: 25 % in a week", {"page", "ticket"}),
        NumberInput("slo", "objective, a share", kBetween0And1),
        CountInput("long_good", "good runs in the long window", 0, kMostTrials),
        CountInput("long_bad", "bad runs in the long window", 0, kMostTrials),
        CountInput("short_good", "good runs in the short window", 0, kMostTrials),
        CountInput("short_bad", "bad runs in the short window", 0, kMostTrials)},
       BurnAlarmOf},
  };
}

std::vector<Method> FactorMethods() {
  return {
      PredictionMethod("prediction_factor_all_m_bonferroni",
                       "half width that holds all of m further values, standard deviations",
                       stats::PredictionFactorAll),
      PredictionMethod("prediction_factor_mean_of_m",
                       "half width that holds the mean of m further values, standard deviations",
                       stats::PredictionFactorMean),
      OneSidedMethod("tolerance_k1_natrella", "one-sided tolerance factor, Natrella's closed form",
                     stats::ToleranceFactorOneSidedNatrella),
      OneSidedMethod("tolerance_k1_noncentral_t", "one-sided tolerance factor, exact",
                     stats::ToleranceFactorOneSided),
      ToleranceMethod("tolerance_k2_exact", "two-sided tolerance factor, exact",
                      stats::ToleranceFactorExact, false),
      ToleranceMethod("tolerance_k2_exact_pooled_df", "the same with pooled degrees of freedom",
                      stats::ToleranceFactorExact, true),
      ToleranceMethod("tolerance_k2_howe", "two-sided tolerance factor, Howe's closed form",
                      stats::ToleranceFactorHowe, false),
      ToleranceMethod("tolerance_k2_howe_pooled_df", "the same with pooled degrees of freedom",
                      stats::ToleranceFactorHowe, true),
  };
}

}  // namespace

std::vector<Method> BandMethods() {
  const InputSpec coverage = NumberInput("coverage", "share of all values to hold", kBetween0And1);
  const InputSpec confidence = NumberInput("confidence", "that it does", kBetween0And1);
  std::vector<Method> methods = {
      {"wilks_n_one_sided",
       "values needed for the order-th largest to bound a share of all",
       {coverage, confidence, CountInput("order", "1: the largest", 1, 1e6)},
       [](const Inputs& in) {
         return WilksSize(stats::WilksSampleSize(in.Number("coverage"), in.Number("confidence"),
                                                 in.Count("order")));
       }},
      {"wilks_n_two_sided_minmax",
       "values needed for smallest to largest to hold a share of all",
       {coverage, confidence},
       [](const Inputs& in) {
         return WilksSize(
             stats::WilksSampleSizeTwoSided(in.Number("coverage"), in.Number("confidence")));
       }},
      {"wilks_confidence_two_sided_minmax",
       "confidence that smallest to largest hold a share",
       {CountInput("n", "values", 1, kMostTrials), coverage},
       [](const Inputs& in) -> Result<Json> {
         return Object({{"confidence",
                         stats::WilksConfidenceTwoSided(in.Number("n"), in.Number("coverage"))}});
       }},
      {"smoke_band", "band for the next m reruns, from the history and its family",
       BandInputs({CountInput("m", "reruns checked together", 1, 1e6),
                   NumberInput("alpha", "error rate", kBetween0And1)}),
       [](const Inputs& in) {
         return OfBand(SmokeBand(HistoryOf(in), in.Count("m"), in.Number("alpha")));
       }},
      {"frozen_band", "band to store and reuse: holds a share of all runs, with confidence",
       BandInputs({coverage, confidence}),
       [](const Inputs& in) {
         return OfBand(FrozenBand(HistoryOf(in), in.Number("coverage"), in.Number("confidence")));
       }},
      {"distribution_free_band",
       "the same from the smallest to the largest value, whatever the noise",
       BandInputs({coverage, confidence}),
       [](const Inputs& in) {
         return OfBand(
             DistributionFreeBand(HistoryOf(in), in.Number("coverage"), in.Number("confidence")));
       }},
  };
  for (auto* more : {ProportionMethods, FactorMethods}) {
    std::vector<Method> some = more();
    std::move(some.begin(), some.end(), std::back_inserter(methods));
  }
  return methods;
}

}  // namespace rharness
