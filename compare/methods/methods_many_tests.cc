// Methods: many p-values at once, and many runs of a fleet.
#include <algorithm>

#include "compare/methods/families.h"
#include "compare/metrics/fleet_shift.h"
#include "compare/stats/multiplicity.h"
#include "compare/stats/proportions.h"
#include "compare/stats/random_effects.h"

namespace rharness {
namespace {

constexpr std::size_t kMostTests = 100000;

Result<Json> MultipleTesting(const Inputs& in) {
  const std::string& method = in.Text("method");
  const std::vector<double>& p = in.List("p");
  const std::vector<double> adjusted = method == "bonferroni" ? stats::AdjustBonferroni(p)
                                       : method == "holm"     ? stats::AdjustHolm(p)
                                                              : stats::AdjustBenjaminiHochberg(p);
  const auto rejected = std::count_if(adjusted.begin(), adjusted.end(),
                                      [&](double value) { return value <= in.Number("alpha"); });
  return Object({{"adjusted", Numbers(adjusted)}, {"rejected", rejected}});
}

Result<Json> Combined(const Inputs& in) {
  const auto combined = stats::CombineFisher(in.List("p"));
  return Object({{"statistic", combined.statistic}, {"p", combined.p}});
}

Result<Json> RandomEffects(const Inputs& in, stats::BetweenVariance rule) {
  if (in.List("effects").size() != in.List("variances").size()) {
    return InvalidInput("as many variances as effects are needed", "$.variances");
  }
  const auto result = stats::CombineEffects(in.List("effects"), in.List("variances"), rule);
  return Object({{"tau2", result.tau_squared},
                 {"mean_re", result.mean},
                 {"se_re", result.standard_error},
                 {"se_re_hksj", result.standard_error_hksj},
                 {"q", result.q},
                 {"df", result.df}});
}

Result<Json> FisherExact(const Inputs& in) {
  if (in.Number("x_new") > in.Number("n_new")) {
    return InvalidInput("more events than runs", "$.x_new");
  }
  if (in.Number("x_hist") > in.Number("n_hist")) {
    return InvalidInput("more events than runs", "$.x_hist");
  }
  return Object({{"p_upper", stats::FisherExactUpper(in.Number("x_new"), in.Number("n_new"),
                                                     in.Number("x_hist"), in.Number("n_hist"))}});
}

Result<std::vector<FleetRun>> FleetRuns(const Inputs& in, const std::string& prefix) {
  const std::vector<double>& shifts = in.List(prefix + "shifts");
  const std::vector<double>& variances = in.List(prefix + "variances");
  if (shifts.size() != variances.size()) {
    return InvalidInput("as many variances as shifts are needed", "$." + prefix + "variances");
  }
  std::vector<FleetRun> runs;
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    runs.push_back({std::to_string(i + 1), shifts[i], variances[i], 1.0});
  }
  return runs;
}

Json OfShift(const SharedShift& shift) {
  return Object({{"runs", shift.runs},
                 {"mean", shift.mean},
                 {"se", shift.standard_error},
                 {"tau2", shift.tau_squared},
                 {"df", shift.df},
                 {"t", shift.t},
                 {"p_two_sided", shift.p},
                 {"ci_low", shift.ci_low},
                 {"ci_high", shift.ci_high}});
}

Result<Json> Fleet(const Inputs& in) {
  ASSIGN_OR_RETURN(std::vector<FleetRun> runs, FleetRuns(in, ""));
  std::vector<FleetRun> controls;
  if (in.Has("control_shifts") != in.Has("control_variances")) {
    return InvalidInput("control_shifts and control_variances go together", "$.control_shifts");
  }
  if (in.Has("control_shifts")) {
    ASSIGN_OR_RETURN(controls, FleetRuns(in, "control_"));
  }
  if (in.Has("p")) {
    if (in.List("p").size() != runs.size()) {
      return InvalidInput("as many p-values as shifts are needed", "$.p");
    }
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i].p = in.List("p")[i];
  }
  FleetSettings settings;
  settings.alpha_drift = in.NumberOr("alpha_drift", settings.alpha_drift);
  settings.alpha_equivalence = in.NumberOr("alpha_equiv", settings.alpha_equivalence);
  settings.margin = in.NumberOr("margin", settings.margin);
  settings.false_discovery_rate = in.NumberOr("q", settings.false_discovery_rate);
  const FleetShift shift = DecideFleetShift(runs, controls, settings);
  Json confirm = Json::MakeArray();
  for (const std::string& run : shift.to_confirm) confirm.Append(std::stoi(run));
  return Object({{"verdict", MetricVerdictName(shift.verdict)},
                 {"reason", shift.reason},
                 {"method", shift.method},
                 {"decided", OfShift(shift.decided)},
                 {"shift", OfShift(shift.shift)},
                 {"controls", OfShift(shift.controls)},
                 {"adjusted_p", Numbers(shift.adjusted_p)},
                 {"to_confirm_1based", std::move(confirm)}});
}

Result<Json> FleetSizeOf(const Inputs& in) {
  const double variance = 1.0 / in.Number("n") + 1.0 / in.Number("k");
  const FleetSize size = PlanFleet(in.Number("mu"), variance, in.Number("tau2"), in.Number("alpha"),
                                   in.Number("power"));
  if (size.student == 0) return InvalidInput("not even a million runs are enough", "$.mu");
  return Object({{"runs_normal", size.normal}, {"runs", size.student}});
}

std::vector<InputSpec> EffectInputs() {
  return {NumbersInput("effects", "one shift a run", kAnyNumber, 2, kMostTests),
          NumbersInput("variances", "their sampling variances", kPositive, 2, kMostTests)};
}

std::vector<InputSpec> FleetInputs() {
  return {
      NumbersInput("shifts", "(reruns - history) / deviation of each run, positive is better",
                   kAnyNumber, 3, kMostTests),
      NumbersInput("variances", "1/n + 1/k of each run", kPositive, 3, kMostTests),
      NumbersInput("p", "two-sided p-value of each run", kFrom0To1, 3, kMostTests).Optional(),
      NumbersInput("control_shifts", "the same of reruns under the old driver", kAnyNumber, 3,
                   kMostTests)
          .Optional(),
      NumbersInput("control_variances", "theirs", kPositive, 3, kMostTests).Optional(),
      NumberInput("margin", "of the shared shift, standard deviations (0.5)", kPositive).Optional(),
      NumberInput("alpha_drift", "error rate of the drift claim (0.01)", kErrorRate).Optional(),
      NumberInput("alpha_equiv", "error rate of equivalence (0.05)", kErrorRate).Optional(),
      NumberInput("q", "false discovery rate of single runs (0.05)", kBetween0And1).Optional()};
}

}  // namespace

std::vector<Method> ManyTestsMethods() {
  const InputSpec p_values = NumbersInput("p", "p-values", kFrom0To1, 1);
  return {
      {"multiple_testing",
       "adjusted p-values: Bonferroni, Holm or Benjamini-Hochberg",
       {p_values, NumberInput("alpha", "error rate to compare them with", kBetween0And1),
        TextInput("method", "the adjustment", {"bonferroni", "holm", "fdr_bh"})},
       MultipleTesting},
      {"combine_pvalues",
       "Fisher's combination of independent p-values",
       {NumbersInput("p", "p-values", {0.0, 1.0, true, false}, 1),
        TextInput("method", "the combination", {"fisher"}).Optional()},
       Combined},
      {"random_effects_dl",
       "DerSimonian-Laird mean with tau2 as estimated, negative if it comes out so (statsmodels)",
       EffectInputs(),
       [](const Inputs& in) { return RandomEffects(in, stats::BetweenVariance::kAsEstimated); }},
      {"random_effects_dl_truncated",
       "DerSimonian-Laird mean with tau2 of at least 0, as the decisions use it", EffectInputs(),
       [](const Inputs& in) { return RandomEffects(in, stats::BetweenVariance::kTruncated); }},
      {"fisher_exact_upper",
       "Fisher's exact test, one-sided: are there more events among new runs?",
       {CountInput("x_new", "events among the new runs", 0, 1e6),
        CountInput("n_new", "new runs", 1, 1e6),
        CountInput("x_hist", "events among the historical runs", 0, 1e6),
        CountInput("n_hist", "historical runs", 1, 1e6)},
       FisherExact},
      {"fleet_shift", "did an upgrade move a fleet's runs, and which are to be confirmed?",
       FleetInputs(), Fleet},
      {"fleet_size",
       "runs needed to find a shared shift, normal approximation and with t",
       {NumberInput("mu", "shared shift, standard deviations of a run", kPositive),
        CountInput("n", "historical runs of each", 1, kMostTrials),
        CountInput("k", "reruns of each", 1, kMostTrials),
        NumberInput("tau2", "variance of the shift between runs", kNotNegative),
        NumberInput("alpha", "two-sided error rate", kErrorRate),
        NumberInput("power", "wanted power", {0.5, 1.0, false, true})},
       FleetSizeOf},
  };
}

}  // namespace rharness
