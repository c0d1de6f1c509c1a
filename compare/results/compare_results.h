// Two groups of MLPerf results: does the second train like the first?
//
// Role: groups in, decision with every number and finding out. Pure. Samples (or epochs) to the
// target are compared on the log scale by the moderated-t design (metrics/decision.h), so a
// difference is a ratio. Not here: the official acceptance rule (rcp.h).
//
// The margin is policy, stated before the results are seen: 5 % on samples to target. Of the 49
// reference records of MLPerf training 5.1, the runs of one configuration scatter by a median
// of 4.2 % (standard deviation of the logarithm), and the official checker lets a submission's
// mean be faster by a median of 3.3 % and, in nine records of ten, by at most 8 %; so 5 % is about
// the change that the benchmark's own rules notice. It never follows from the results. A coarser
// grid of evaluations gives a higher count for the same training: groups whose grids alone move the
// count by more than kLargestGridBias are not comparable, and the bias is reported.
// Counts are multiples of the evaluation interval: the variance is floored at interval^2 / 12, so
// equal counts of a few runs with coarse evaluations are undecided (evaluations_too_far_apart) and
// not equivalent.
#ifndef RHARNESS_COMPARE_RESULTS_COMPARE_RESULTS_H_
#define RHARNESS_COMPARE_RESULTS_COMPARE_RESULTS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/metrics/decision.h"
#include "compare/results/result_group.h"
#include "harness/verdict/verdict.h"

namespace rharness {

inline constexpr double kDefaultMarginRatio = 0.05;

struct ResultRules {
  double margin_ratio = kDefaultMarginRatio;  // > 0: samples to target may differ by this share
  double alpha_drift = 0.01;
  double alpha_equivalence = 0.05;
  // Variance of ln(samples to target) in the benchmark: of other groups (FitGroupPrior) or of the
  // reference points (FitRcpPrior). df = 0: the two groups' own variance alone.
  VariancePrior prior;
};

enum class GroupOutcome {
  kSame,        // the same seeds with evaluations equal bit for bit
  kEquivalent,  // samples to target within the margin, shown
  kShifted,     // samples to target, or the share of runs that converge, differ, shown
  kUndecided,
  kNotComparable,  // another benchmark, batch size or evaluation grid, or a mixed group
};
// "same", "equivalent", "shifted", "undecided", "not_comparable"
std::string_view GroupOutcomeName(GroupOutcome outcome);

struct SettingDifference {
  std::string key;
  std::optional<std::string> reference;  // empty: absent
  std::optional<std::string> candidate;
  bool hyperparameter = true;  // else a setting derived from the machine
};

// Means over the runs at the evaluations that every run of both groups has, so that slow runs alone
// never represent their group. All vectors have one length, which may be 0.
struct CommonCurve {
  std::string name;
  std::string unit;  // of the positions: "samples", "epochs"
  std::vector<double> positions;
  std::vector<double> reference_mean;
  std::vector<double> reference_deviation;  // over the runs, divisor n - 1; 0 for one run
  std::vector<double> candidate_mean;
  std::vector<double> candidate_deviation;
};

struct GroupComparison {
  std::string reference;
  std::string candidate;
  GroupOutcome outcome = GroupOutcome::kUndecided;
  bool same_configuration = false;             // hyperparameters agree as well
  std::vector<SettingDifference> differences;  // hyperparameters first, then by key
  // Effect of the candidate's grid of evaluations alone on the reference's counts, as a factor;
  // from the runs of the finer grid. 1: the same grid.
  double grid_bias = 1.0;
  // ln(samples to target) of the runs that converged; empty name: not compared.
  MetricDecision convergence;
  double ratio = 0.0;  // candidate / reference, geometric means; 0: not compared
  double ratio_low = 0.0;
  double ratio_high = 0.0;
  // Equivalence holds for any declared margin above this share. For planning, not a decision.
  double shown_margin_ratio = 0.0;
  // The p behind a claimed difference. Fisher's exact test on runs that converged if some did not.
  // After Holm if several pairs were compared.
  double p = 1.0;
  // Advisory: each curve's value at the last evaluation that every run has.
  std::vector<MetricDecision> evaluations;
  std::vector<CommonCurve> curves;
  std::vector<Finding> findings;  // the decisive ones first
};

GroupComparison CompareGroups(const ResultGroup& reference, const ResultGroup& candidate,
                              const ResultRules& rules);

// From coherent groups with two or more converged runs. df = 0 for fewer than five (see
// FitVariancePrior) with any spread.
VariancePrior FitGroupPrior(const std::vector<const ResultGroup*>& groups);

// Each other group of the reference's benchmark with groups[reference], in their order. Shifts must
// hold after Holm's correction over the pairs, else they are undecided (not_shown_over_all_pairs).
// If rules.prior.df = 0, each pair's prior comes from the benchmark's groups outside of the pair.
// reference < groups.size().
std::vector<GroupComparison> CompareWithReference(const std::vector<ResultGroup>& groups,
                                                  std::size_t reference, const ResultRules& rules);

// Every pair of one benchmark, the earlier group as the reference; corrected as above.
// Cost: pairs x groups.
std::vector<GroupComparison> CompareAllPairs(const std::vector<ResultGroup>& groups,
                                             const ResultRules& rules);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_RESULTS_COMPARE_RESULTS_H_
