// Two groups: comparable? the same? then samples to target; the order of CompareGroups is the rule.
#include "compare/results/compare_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "compare/results/common_curves.h"
#include "compare/results/fisher_exact.h"

namespace rharness {
namespace {

void AddFinding(Finding finding, GroupComparison* comparison) {
  const auto at = finding.decisive
                      ? std::find_if(comparison->findings.begin(), comparison->findings.end(),
                                     [](const Finding& one) { return !one.decisive; })
                      : comparison->findings.end();
  comparison->findings.insert(at, std::move(finding));
}

void AddDifferences(const std::map<std::string, std::string>& reference,
                    const std::map<std::string, std::string>& candidate, bool hyperparameter,
                    std::vector<SettingDifference>* differences) {
  std::map<std::string, SettingDifference> all;
  for (const auto& [key, value] : reference) all[key].reference = value;
  for (const auto& [key, value] : candidate) all[key].candidate = value;
  for (auto& [key, difference] : all) {
    if (difference.reference == difference.candidate) continue;
    difference.key = key;
    difference.hyperparameter = hyperparameter;
    differences->push_back(std::move(difference));
  }
}

void ListDifferences(const ResultGroup& reference, const ResultGroup& candidate,
                     GroupComparison* comparison) {
  AddDifferences(reference.hyperparameters, candidate.hyperparameters, true,
                 &comparison->differences);
  comparison->same_configuration = comparison->differences.empty();
  AddDifferences(reference.context, candidate.context, false, &comparison->differences);
  for (const SettingDifference& difference : comparison->differences) {
    const std::string was = difference.reference.value_or("(absent)");
    const std::string is = difference.candidate.value_or("(absent)");
    AddFinding({.code = difference.hyperparameter ? "hyperparameter_differs" : "context_differs",
                .subject = difference.key,
                .observed = is,
                .limit = was,
                .rule = "settings are listed; only the batch size ends a comparison",
                .message = fmt::format("{} is {} in {} and {} in {}", difference.key, is,
                                       comparison->candidate, was, comparison->reference)},
               comparison);
  }
}

double GridBiasBetween(const ResultGroup& reference, const ResultGroup& candidate) {
  if (!reference.grid || !candidate.grid) return 1.0;
  return reference.grid->interval <= candidate.grid->interval
             ? GridBias(reference.runs, *candidate.grid)
             : 1.0 / GridBias(candidate.runs, *reference.grid);
}

void Refuse(std::string code, std::string subject, std::string is, std::string was,
            std::string message, GroupComparison* comparison) {
  AddFinding({.code = std::move(code),
              .subject = std::move(subject),
              .observed = std::move(is),
              .limit = std::move(was),
              .rule = "samples to target are compared at one benchmark, batch size and grid",
              .message = std::move(message),
              .decisive = true},
             comparison);
}

bool OnOneGrid(const ResultGroup& reference, const ResultGroup& candidate,
               GroupComparison* comparison) {
  comparison->grid_bias = GridBiasBetween(reference, candidate);
  const double moved = comparison->grid_bias - 1.0;
  if (std::fabs(moved) <= kLargestGridBias) return true;
  const std::string& is = candidate.context.at("evaluation_grid");
  const std::string& was = reference.context.at("evaluation_grid");
  Refuse("evaluation_grid_differs", "evaluation_grid", is, was,
         fmt::format("{} was evaluated {}, {} {}: that alone moves the count at the target by "
                     "{:+.2g} %",
                     candidate.name, is, reference.name, was, 100.0 * moved),
         comparison);
  return false;
}

bool Comparable(const ResultGroup& reference, const ResultGroup& candidate,
                GroupComparison* comparison) {
  for (const ResultGroup* group : {&reference, &candidate}) {
    if (group->coherent) continue;
    Refuse("not_one_configuration", group->name, "", "",
           fmt::format("the runs of {} do not share one configuration", group->name), comparison);
  }
  if (reference.benchmark != candidate.benchmark || reference.unit != candidate.unit) {
    Refuse("benchmark_differs", "submission_benchmark", candidate.benchmark, reference.benchmark,
           fmt::format("{} ran {}, {} ran {}", candidate.name, candidate.benchmark, reference.name,
                       reference.benchmark),
           comparison);
    return false;
  }
  if (reference.global_batch_size != candidate.global_batch_size) {
    const std::string is = fmt::format("{}", candidate.global_batch_size);
    const std::string was = fmt::format("{}", reference.global_batch_size);
    Refuse("batch_size_differs", "global_batch_size", is, was,
           fmt::format("the batch size is {} in {} and {} in {}", is, candidate.name, was,
                       reference.name),
           comparison);
    return false;
  }
  return reference.coherent && candidate.coherent && OnOneGrid(reference, candidate, comparison);
}

bool SameCurve(const MllogCurve& a, const MllogCurve& b) {
  const auto same = [](const MllogEvaluation& x, const MllogEvaluation& y) {
    return x.position == y.position &&
           std::bit_cast<std::uint64_t>(x.value) == std::bit_cast<std::uint64_t>(y.value);
  };
  return a.name == b.name && std::equal(a.evaluations.begin(), a.evaluations.end(),
                                        b.evaluations.begin(), b.evaluations.end(), same);
}

// The same seeds, and for each the same evaluations, bit for bit. Runs without a seed or without
// evaluations are never the same: nothing was compared.
bool SameRuns(const ResultGroup& reference, const ResultGroup& candidate) {
  if (reference.runs.size() != candidate.runs.size() || !reference.seeds_distinct) return false;
  std::map<std::vector<std::string>, const MllogRun*> by_seeds;
  for (const MllogRun& run : reference.runs) by_seeds[run.seeds] = &run;
  if (by_seeds.size() != reference.runs.size()) return false;
  return std::all_of(candidate.runs.begin(), candidate.runs.end(), [&](const MllogRun& run) {
    const auto found = by_seeds.extract(run.seeds);
    if (found.empty() || run.seeds.empty() || run.curves.empty()) return false;
    const MllogRun& other = *found.mapped();
    return run.converged_at == other.converged_at && run.status == other.status &&
           std::equal(run.curves.begin(), run.curves.end(), other.curves.begin(),
                      other.curves.end(), SameCurve);
  });
}

std::vector<double> Logs(std::vector<double> values) {
  for (double& value : values) value = std::log(value);
  return values;
}

void NoteCoarseEvaluations(double quantum, const ResultRules& rules, GroupComparison* comparison) {
  const double apart = 100.0 * std::expm1(quantum);
  AddFinding({.code = "evaluations_too_far_apart",
              .subject = comparison->convergence.name,
              .observed = fmt::format("{:.3g} %", apart),
              .limit = fmt::format("{:.3g} %", 100.0 * rules.margin_ratio),
              .rule = "the variance is at least interval^2 / 12 of the evaluations",
              .message = fmt::format("evaluations at the target are {:.3g} % apart, further than "
                                     "the margin of {:.3g} %, and the runs are too few to make up "
                                     "for it",
                                     apart, 100.0 * rules.margin_ratio)},
             comparison);
}

void CompareConvergence(const ResultGroup& reference, const ResultGroup& candidate,
                        const ResultRules& rules, GroupComparison* comparison) {
  MetricInput input;
  input.name = "samples_to_target";
  input.unit = fmt::format("ln({})", ConvergenceUnitName(reference.unit));
  input.history = Logs(reference.converged);
  input.reruns = Logs(candidate.converged);
  input.missing = candidate.not_converged;
  input.margin = std::log1p(rules.margin_ratio);
  input.prior = rules.prior;
  input.alpha_drift = rules.alpha_drift;
  input.alpha_equivalence = rules.alpha_equivalence;
  double mean = 0.0;
  for (const double value : reference.converged) mean += value;
  mean /= static_cast<double>(std::max<std::size_t>(1, reference.converged.size()));
  if (mean > 0.0) {
    input.quantum = std::log1p(std::max(reference.quantum, candidate.quantum) / mean);
  }
  comparison->convergence = DecideMetric(input);
  const MetricDecision& decision = comparison->convergence;
  if (decision.standard_error > 0.0) {
    comparison->ratio = std::exp(decision.difference);
    comparison->ratio_low = std::exp(decision.ci_low);
    comparison->ratio_high = std::exp(decision.ci_high);
    comparison->shown_margin_ratio =
        std::expm1(std::max(std::fabs(decision.ci_low), std::fabs(decision.ci_high)));
    comparison->p = decision.p_difference;
  }
  if (decision.verdict == MetricVerdict::kInconclusive && input.quantum > decision.margin) {
    NoteCoarseEvaluations(input.quantum, rules, comparison);
  }
}

GroupOutcome OutcomeOf(MetricVerdict verdict) {
  if (verdict == MetricVerdict::kWithin) return GroupOutcome::kEquivalent;
  if (verdict == MetricVerdict::kDrifted) return GroupOutcome::kShifted;
  return GroupOutcome::kUndecided;
}

// Runs that did not converge are an outcome of their own: then the mean of the others decides
// nothing, but their share may.
void DecideOnShare(const ResultGroup& reference, const ResultGroup& candidate,
                   const ResultRules& rules, GroupComparison* comparison) {
  const auto reached_reference = static_cast<int>(reference.converged.size());
  const auto reached_candidate = static_cast<int>(candidate.converged.size());
  comparison->p = FisherExactTwoSided(reached_reference, reference.not_converged, reached_candidate,
                                      candidate.not_converged);
  const bool shifted = comparison->p < rules.alpha_drift;
  comparison->outcome = shifted ? GroupOutcome::kShifted : GroupOutcome::kUndecided;
  const std::string is = fmt::format("{} of {}", reached_candidate, candidate.runs.size());
  const std::string was = fmt::format("{} of {}", reached_reference, reference.runs.size());
  AddFinding({.code = shifted ? "convergence_share_differs" : "runs_not_converged",
              .subject = "runs that reached the target",
              .observed = is,
              .limit = was,
              .rule = fmt::format("Fisher's exact test, two-sided, at {}", rules.alpha_drift),
              .message = fmt::format("{} runs of {} reached the target, {} of {} did (p = {:.2g})",
                                     is, candidate.name, was, reference.name, comparison->p),
              .decisive = true},
             comparison);
}

void Decide(const ResultGroup& reference, const ResultGroup& candidate, const ResultRules& rules,
            GroupComparison* comparison) {
  if (reference.not_converged + candidate.not_converged > 0) {
    return DecideOnShare(reference, candidate, rules, comparison);
  }
  if (!reference.seeds_distinct || !candidate.seeds_distinct) {
    const std::string& name = reference.seeds_distinct ? candidate.name : reference.name;
    AddFinding({.code = "duplicate_seed",
                .subject = name,
                .rule = "runs are replicates only if their seeds differ",
                .message = fmt::format("two runs of {} have the same seed", name),
                .decisive = true},
               comparison);
    return;
  }
  const MetricDecision& decision = comparison->convergence;
  comparison->outcome = OutcomeOf(decision.verdict);
  AddFinding({.code = std::string(MetricVerdictName(decision.verdict)),
              .subject = decision.name,
              .observed = fmt::format("{:.4g}", comparison->ratio),
              .limit = fmt::format("within {:.3g} %", 100.0 * rules.margin_ratio),
              .rule = "moderated t and two one-sided tests on the logarithm",
              .message = fmt::format(
                  "samples to target are {:.4g} times those of {} (interval {:.4g} to {:.4g})",
                  comparison->ratio, reference.name, comparison->ratio_low, comparison->ratio_high),
              .decisive = true},
             comparison);
}

}  // namespace

std::string_view GroupOutcomeName(GroupOutcome outcome) {
  switch (outcome) {
    case GroupOutcome::kSame:
      return "same";
    case GroupOutcome::kEquivalent:
      return "equivalent";
    case GroupOutcome::kShifted:
      return "shifted";
    case GroupOutcome::kUndecided:
      return "undecided";
    case GroupOutcome::kNotComparable:
      break;
  }
  return "not_comparable";
}

GroupComparison CompareGroups(const ResultGroup& reference, const ResultGroup& candidate,
                              const ResultRules& rules) {
  GroupComparison comparison{.reference = reference.name, .candidate = candidate.name};
  ListDifferences(reference, candidate, &comparison);
  if (!Comparable(reference, candidate, &comparison)) {
    comparison.outcome = GroupOutcome::kNotComparable;
    return comparison;
  }
  CompareConvergence(reference, candidate, rules, &comparison);
  comparison.curves = BuildCommonCurves(reference, candidate);
  comparison.evaluations = DecideLastEvaluations(reference, candidate, rules);
  if (SameRuns(reference, candidate)) {
    comparison.outcome = GroupOutcome::kSame;
    AddFinding({.code = "same_runs",
                .subject = candidate.name,
                .rule = "the same seeds with evaluations equal bit for bit",
                .message = "both groups hold the same runs",
                .decisive = true},
               &comparison);
    return comparison;
  }
  Decide(reference, candidate, rules, &comparison);
  return comparison;
}

}  // namespace rharness
