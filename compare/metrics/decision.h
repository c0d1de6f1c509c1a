// One metric of one run: did its mean move by more than its margin? (the moderated-t design)
//
// Role: statistics of values in, decision with every number that led to it out. Pure. The run is
// the unit of replication: n historical runs of one configuration against k reruns.
// Source: Smyth 2004 (moderated variance), Schuirmann 1987 (TOST), doi:10.2202/1544-6115.1027 and
// doi:10.1007/BF01068419.
#ifndef RHARNESS_COMPARE_METRICS_DECISION_H_
#define RHARNESS_COMPARE_METRICS_DECISION_H_

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

// What a family's run-to-run variance is known to be before this run is looked at. d0 = 0: nothing.
struct VariancePrior {
  double s0_squared = 0.0;  // metric units squared
  double df = 0.0;          // d0; at most 30 count
  int configurations = 0;   // that it was fitted to
};

// Fits the prior to a family: one (variance, df) pair per configuration with two or more runs.
// It claims at most 8 degrees of freedom, and narrows nothing where a run has 8 of its own, so that
// error rates hold on average over a family whose variances differ. In its noisiest configuration
// the error rates are several times as high: on 1,515 real repeats, a single rerun of an unchanged
// run (n = k = 1) differed in up to 17 % of cases where 1 % is stated, and in 2.6 to 6 % on heavy
// tails such as those of reinforcement learning. So one rerun never shows a drift:
// kNeedsConfirmation asks for the next (compare/metrics/README.md has more figures).
// Needs at least 5 configurations and 8 degrees of freedom in all, else returns d0 = 0.
// Configurations with zero variance are left out: bit-equal runs say nothing about noise.
VariancePrior FitVariancePrior(const std::vector<double>& variances,
                               const std::vector<double>& dfs);

// The variance_basis of a decision over pairs of items, whose reason is "equal" where all are.
inline constexpr std::string_view kItemsBasis = "items";
// The same of a divergence over sequences of tokens (compare/tokens/decide_kl.h).
inline constexpr std::string_view kSequencesBasis = "sequences";

// Finite, and not the largest double or float: stores without infinities keep these in their place.
inline bool IsMeasured(double value) {
  const double size = std::fabs(value);
  return size < std::numeric_limits<double>::max() &&
         size != static_cast<double>(std::numeric_limits<float>::max());
}

struct MetricInput {
  std::string name;
  std::string unit;
  bool primary = true;
  std::vector<double> history;   // n finite values, one a run
  std::vector<double> reruns;    // k values; NaN where the rerun's value is not finite
  int missing = 0;               // reruns that did not report the metric
  std::optional<double> margin;  // delta, metric units, > 0; empty: 3 * s0 as a default
  double quantum = 0.0;          // resolution of the metric, metric units; 0: continuous
  VariancePrior prior;
  double alpha_drift = 0.01;
  double alpha_equivalence = 0.05;  // halved at k = 1
  // sqrt(b + c) / N of the historical run against the rerun if examples were recorded one by one
  // (stats::DiscordantStandardError), metric units: at n = k = 1 a floor of the standard error of
  // the difference. 0: not known.
  double example_standard_error = 0.0;
};

enum class MetricVerdict {
  kWithin,   // equivalence shown
  kDrifted,  // difference shown (k >= 2, or non-finite)
  // Difference shown at k = 1: one more rerun is needed. Of real repeats 17 % show such a shift in
  // the noisiest of 64 configurations, and 0.7 % on average; heavy tails make it 2.6 to 6 %.
  kNeedsConfirmation,
  kInconclusive,
};
std::string_view MetricVerdictName(MetricVerdict verdict);

struct MetricDecision {
  std::string name;
  std::string unit;
  bool primary = true;  // it decides: it was stated so, or with a margin
  MetricVerdict verdict = MetricVerdict::kInconclusive;
  // "", "non_finite", "missing", "no_variance_basis", "no_margin", "detectable_shift", "material",
  // "single_reference", "unequal_variance" (Welch's test was used), "one_rerun_decides" (the shift
  // does not survive without its most extreme rerun), "not_in_all_reruns", "too_few_items" and
  // "unscored_items" (of items), "too_few_sequences" and "coarsely_printed" (of tokens),
  // "no_history", "non_finite_history", "invalid_alpha", "within_rounding" (set by comparisons of
  // single values), and those that paired.h, throughput.h and time_to_target.h add; joined by
  // commas.
  std::string reason;
  std::vector<double> history;
  std::vector<double> reruns;
  std::optional<double> recorded;  // value of the run, if history holds its kind too
  double mean_history = 0.0;
  double difference = 0.0;          // mean(reruns) - mean(history), metric units
  double standard_deviation = 0.0;  // s~, moderated, with the quantum floor
  double standard_error = 0.0;
  double df = 0.0;  // nu
  double t = 0.0;
  double p_difference = 1.0;
  double ci_low = 0.0;  // (1 - 2 alpha_equivalence) interval of the difference
  double ci_high = 0.0;
  double margin = 0.0;  // delta in force; 0: none
  bool default_margin = false;
  double alpha_drift = 0.01;
  double alpha_equivalence = 0.05;  // as applied
  std::string variance_basis;  // "own", "pooled", "family", "pairs", "seeds", "rounding", "none"
  // The F report: variance of the reruns over that of the history, both with the floor, and its
  // two-sided p. 0 and 1 unless both sides have two runs or more.
  double variance_ratio = 0.0;
  double p_variance_ratio = 1.0;
  double power = 0.0;               // of showing equivalence with these n and k if nothing changed
  double minimum_detectable = 0.0;  // shift found with 80 % probability, metric units
  int more_reruns = 0;  // further reruns for 80 % power of a decision; 0: no number would do
  // Of paired judgement (paired.h): pairs behind the decision (0: not paired), the seeds' standard
  // deviation (0: not known), and how many more runs of other seeds would decide.
  int pairs = 0;
  double seed_deviation = 0.0;
  int more_runs = 0;
};

// Always returns a decision; `reason` names its obstacle. standard_error = 0 means that no test was
// made, and t, p_difference, the interval, power and minimum_detectable have no meaning then.
MetricDecision DecideMetric(const MetricInput& input);

// The reason tokens of a decision as words, joined by "; ". Unknown tokens stay as they are.
std::string DescribeReason(std::string_view reason);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_METRICS_DECISION_H_
