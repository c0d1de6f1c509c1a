// Many groups: a family's variance, pairs, and the results that hold over all of them.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "compare/results/compare_results.h"
#include "compare/stats/moments.h"
#include "compare/stats/multiplicity.h"

namespace rharness {
namespace {

using Pair = std::pair<std::size_t, std::size_t>;

VariancePrior PriorOutside(const std::vector<ResultGroup>& groups, const Pair& pair) {
  std::vector<const ResultGroup*> others;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i == pair.first || i == pair.second) continue;
    if (groups[i].benchmark == groups[pair.first].benchmark) others.push_back(&groups[i]);
  }
  return FitGroupPrior(others);
}

// A shift among several pairs must survive the correction for having looked at all of them.
void CorrectForPairs(double alpha, std::vector<GroupComparison>* comparisons) {
  std::vector<double> p;
  std::vector<GroupComparison*> tested;
  for (GroupComparison& comparison : *comparisons) {
    if (comparison.outcome == GroupOutcome::kNotComparable) continue;
    tested.push_back(&comparison);
    p.push_back(comparison.p);
  }
  const std::vector<double> adjusted = stats::AdjustHolm(p);
  for (std::size_t i = 0; i < tested.size(); ++i) {
    GroupComparison& comparison = *tested[i];
    comparison.p = adjusted[i];
    if (comparison.outcome != GroupOutcome::kShifted || adjusted[i] < alpha) continue;
    comparison.outcome = GroupOutcome::kUndecided;
    comparison.findings.insert(
        comparison.findings.begin(),
        {.code = "not_shown_over_all_pairs",
         .subject = comparison.candidate,
         .rule = "a shift among several pairs must hold after Holm's correction",
         .message = "the shift does not hold once all compared pairs are taken into account",
         .decisive = true});
  }
}

std::vector<GroupComparison> ComparePairs(const std::vector<ResultGroup>& groups,
                                          const std::vector<Pair>& pairs,
                                          const ResultRules& rules) {
  std::vector<GroupComparison> comparisons;
  for (const Pair& pair : pairs) {
    ResultRules own = rules;
    if (!(own.prior.df > 0.0)) own.prior = PriorOutside(groups, pair);
    comparisons.push_back(CompareGroups(groups[pair.first], groups[pair.second], own));
  }
  CorrectForPairs(rules.alpha_drift, &comparisons);
  return comparisons;
}

}  // namespace

VariancePrior FitGroupPrior(const std::vector<const ResultGroup*>& groups) {
  std::vector<double> variances;
  std::vector<double> dfs;
  for (const ResultGroup* group : groups) {
    if (!group->coherent || group->converged.size() < 2) continue;
    std::vector<double> logs = group->converged;
    for (double& value : logs) value = std::log(value);
    const stats::Moments moments = stats::ComputeMoments(logs);
    variances.push_back(moments.Variance());
    dfs.push_back(moments.count - 1.0);
  }
  return FitVariancePrior(variances, dfs);
}

std::vector<GroupComparison> CompareWithReference(const std::vector<ResultGroup>& groups,
                                                  std::size_t reference, const ResultRules& rules) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i != reference && groups[i].benchmark == groups[reference].benchmark) {
      pairs.emplace_back(reference, i);
    }
  }
  return ComparePairs(groups, pairs, rules);
}

std::vector<GroupComparison> CompareAllPairs(const std::vector<ResultGroup>& groups,
                                             const ResultRules& rules) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t j = i + 1; j < groups.size(); ++j) {
      if (groups[i].benchmark == groups[j].benchmark) pairs.emplace_back(i, j);
    }
  }
  return ComparePairs(groups, pairs, rules);
}

}  // namespace rharness
