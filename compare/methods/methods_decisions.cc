// Methods: the decisions of compare/metrics.
#include <cmath>
#include <cstddef>

#include "compare/methods/families.h"
#include "compare/metrics/decision.h"
#include "compare/metrics/sequential_decision.h"
#include "compare/metrics/throughput.h"
#include "compare/metrics/time_to_target.h"

namespace rharness {
namespace {

constexpr std::size_t kMostRuns = 10000;

std::string_view NameOf(MetricVerdict verdict) {
  return verdict == MetricVerdict::kWithin ? "within_band" : MetricVerdictName(verdict);
}

// The numbers of a decision; those of a test only if one was made.
Json OfDecision(const MetricDecision& decision) {
  Json out = Object({{"verdict", NameOf(decision.verdict)},
                     {"reason", decision.reason},
                     {"difference", decision.difference},
                     {"delta", decision.margin},
                     {"default_margin", decision.default_margin},
                     {"alpha_drift", decision.alpha_drift},
                     {"alpha_equiv", decision.alpha_equivalence},
                     {"variance_basis", decision.variance_basis},
                     {"more_reruns", decision.more_reruns}});
  if (!(decision.standard_error > 0.0)) return out;
  out.Set("t", decision.t).Set("df", decision.df).Set("p_difference", decision.p_difference);
  out.Set("ci_low", decision.ci_low).Set("ci_high", decision.ci_high);
  out.Set("sd", decision.standard_deviation).Set("se", decision.standard_error);
  out.Set("variance_ratio", decision.variance_ratio);
  out.Set("p_variance_ratio", decision.p_variance_ratio);
  out.Set("power", decision.power).Set("minimum_detectable", decision.minimum_detectable);
  return out;
}

VariancePrior PriorOf(const Inputs& in) {
  return {in.NumberOr("s0_sq", 0.0), in.NumberOr("d0", 0.0), 0};
}

MetricInput MetricOf(const Inputs& in) {
  MetricInput input;
  input.history = in.List("hist");
  input.reruns = in.List("new");
  if (in.Has("delta")) input.margin = in.Number("delta");
  input.quantum = in.NumberOr("quantum", 0.0);
  input.prior = PriorOf(in);
  input.alpha_drift = in.NumberOr("alpha_drift", input.alpha_drift);
  input.alpha_equivalence = in.NumberOr("alpha_equiv", input.alpha_equivalence);
  input.example_standard_error = in.NumberOr("se_within", 0.0);
  return input;
}

Result<Json> Look(const Inputs& in) {
  LookPlan plan;
  if (in.Has("looks")) plan.looks = in.Counts("looks");
  plan.alpha_drift = in.NumberOr("alpha_drift", plan.alpha_drift);
  plan.alpha_equivalence = in.NumberOr("alpha_equiv", plan.alpha_equivalence);
  plan.futility = in.NumberOr("futility", plan.futility);
  ASSIGN_OR_RETURN(const LookDecision decision, DecideAtLook(MetricOf(in), plan));
  Json out = OfDecision(decision.metric);
  out.Set("look", decision.look).Set("k", decision.k).Set("next_k", decision.next_k);
  out.Set("action", LookActionName(decision.action));
  out.Set("information", decision.information);
  out.Set("information_fraction", decision.information_fraction);
  out.Set("spent_drift", decision.spent_drift).Set("spent_equiv", decision.spent_equivalence);
  out.Set("conditional_power_within", decision.conditional_power_within);
  out.Set("conditional_power_drift", decision.conditional_power_drift);
  return out;
}

// An infinite time is one that was not reached.
std::vector<std::optional<double>> Times(const std::vector<double>& values) {
  std::vector<std::optional<double>> times;
  times.reserve(values.size());
  for (const double value : values) {
    times.push_back(std::isinf(value) ? std::nullopt : std::optional<double>(value));
  }
  return times;
}

Result<Json> TimeToTarget(const Inputs& in) {
  TimeToTargetInput input;
  input.history = Times(in.List("hist"));
  input.reruns = Times(in.List("new"));
  input.eval_interval = in.NumberOr("eval_interval", 0.0);
  input.margin_fraction = in.Number("margin_fraction");
  input.prior = PriorOf(in);
  input.alpha_drift = in.NumberOr("alpha_drift", input.alpha_drift);
  input.alpha_equivalence = in.NumberOr("alpha_equiv", input.alpha_equivalence);
  ASSIGN_OR_RETURN(const TimeToTargetDecision decision, DecideTimeToTarget(input));
  Json out = OfDecision(decision.metric);
  out.Set("censored_hist", decision.censored_history);
  out.Set("censored_new", decision.censored_reruns).Set("p_censored", decision.p_censored);
  return out;
}

Result<Json> Reached(const Inputs& in) {
  ASSIGN_OR_RETURN(const std::optional<double> samples,
                   SamplesToTarget(in.List("samples"), in.List("values"), in.Number("target"),
                                   in.Flag("higher_is_better")));
  Json out = Object({{"reached", samples.has_value()}});
  return samples ? out.Set("samples", *samples) : out;
}

Result<Json> Throughput(const Inputs& in) {
  ThroughputInput input;
  for (const double seconds : in.List("hist")) input.history.push_back({seconds, ""});
  for (const double seconds : in.List("new")) input.reruns.push_back({seconds, ""});
  input.margin_fraction = in.Number("margin_fraction");
  input.prior = PriorOf(in);
  input.alpha_drift = in.NumberOr("alpha_drift", input.alpha_drift);
  input.alpha_equivalence = in.NumberOr("alpha_equiv", input.alpha_equivalence);
  ASSIGN_OR_RETURN(const MetricDecision decision, DecideThroughput(input));
  return OfDecision(decision);
}

Result<Json> MedianStep(const Inputs& in) {
  ASSIGN_OR_RETURN(
      const double median,
      MedianStepSeconds(in.List("step_seconds"), static_cast<std::size_t>(in.Count("warm_up"))));
  return Object({{"median_seconds", median}});
}

std::vector<InputSpec> CommonInputs() {
  return {NumberInput("s0_sq", "family variance, squared units", kNotNegative).Optional(),
          NumberInput("d0", "its degrees of freedom, capped at 30", kNotNegative).Optional(),
          NumberInput("alpha_drift", "error rate of drift (0.01)", kErrorRate).Optional(),
          NumberInput("alpha_equiv", "error rate of equivalence (0.05)", kErrorRate).Optional()};
}

std::vector<InputSpec> With(std::vector<InputSpec> first) {
  const std::vector<InputSpec> common = CommonInputs();
  first.insert(first.end(), common.begin(), common.end());
  return first;
}

std::vector<InputSpec> MetricInputs() {
  return With(
      {NumbersInput("hist", "historical values, one a run, metric units", kAnything, 0, kMostRuns),
       NumbersInput("new", "reruns' values; \"nan\" where one is not finite", kAnything, 0,
                    kMostRuns),
       NumberInput("delta", "margin, metric units (three family deviations)", kPositive).Optional(),
       NumberInput("quantum", "resolution, metric units", kNotNegative).Optional(),
       NumberInput("se_within", "sqrt(b + c) / N at one run against one, metric units",
                   kNotNegative)
           .Optional()});
}

std::vector<InputSpec> LookInputs() {
  std::vector<InputSpec> inputs = MetricInputs();
  inputs.push_back(CountsInput("looks", "reruns at each look (1, 2, 3, 5)", 1, 10, 10).Optional());
  inputs.push_back(
      NumberInput("futility", "conditional power to stop below (0.1)", {0.0, 1.0, false, true})
          .Optional());
  return inputs;
}

InputSpec Margin() {
  return NumberInput("margin_fraction", "0.05: up to 5 % is the same", {1e-9, 1e6});
}

std::vector<InputSpec> TimeInputs() {
  const Range times{0.0, std::numeric_limits<double>::infinity(), true, false};
  return With(
      {NumbersInput("hist", "samples to target; \"inf\" where it was not reached", times, 1,
                    kMostRuns),
       NumbersInput("new", "likewise of the reruns", times, 1, kMostRuns), Margin(),
       NumberInput("eval_interval", "samples between evaluations", {0.0, 1e18}).Optional()});
}

}  // namespace

std::vector<Method> DecisionMethods() {
  const InputSpec curve = NumbersInput("samples", "seen at each evaluation", kPositive, 1);
  return {
      {"design_verdict", "has the mean of a metric moved by more than its margin?", MetricInputs(),
       [](const Inputs& in) -> Result<Json> { return OfDecision(DecideMetric(MetricOf(in))); }},
      {"sequential_decision", "the same at a preregistered look, with what it may spend",
       LookInputs(), Look},
      {"time_to_target", "has the number of samples to a target changed? on the log scale",
       TimeInputs(), TimeToTarget},
      {"samples_to_target",
       "samples at the first evaluation that reaches the target",
       {curve, NumbersInput("values", "the metric at each evaluation", kAnything, 1),
        NumberInput("target", "metric units", kAnyNumber),
        FlagInput("higher_is_better", "direction of the metric")},
       Reached},
      {"throughput", "are the reruns slower? one-sided, on the log scale",
       With({NumbersInput("hist", "median step seconds, one a node", kPositive, 1, kMostRuns),
             NumbersInput("new", "likewise of the reruns", kPositive, 1, kMostRuns), Margin()}),
       Throughput},
      {"median_step_seconds",
       "median step time after the warm-up",
       {NumbersInput("step_seconds", "seconds of each step", kPositive, 1),
        CountInput("warm_up", "first steps left out", 0, kMostValues)},
       MedianStep},
  };
}

}  // namespace rharness
