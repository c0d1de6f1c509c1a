// Evaluations that two groups share, and the last of them as a metric.
#include "compare/results/common_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "compare/stats/moments.h"

namespace rharness {
namespace {

// Values of one curve at one position, over the runs of a group.
struct Column {
  std::vector<double> reference;
  std::vector<double> candidate;
};

// Position to values, at the positions that all runs have.
using Columns = std::map<double, Column>;

const MllogCurve* FindCurve(const MllogRun& run, const std::string& name) {
  const auto found = std::find_if(run.curves.begin(), run.curves.end(),
                                  [&](const MllogCurve& curve) { return curve.name == name; });
  return found == run.curves.end() ? nullptr : &*found;
}

void AddRuns(const ResultGroup& group, const std::string& name, std::vector<double> Column::*values,
             Columns* columns) {
  for (const MllogRun& run : group.runs) {
    const MllogCurve* curve = FindCurve(run, name);
    if (curve == nullptr) continue;
    for (const MllogEvaluation& one : curve->evaluations) {
      ((*columns)[one.position].*values).push_back(one.value);
    }
  }
}

Columns CommonColumns(const ResultGroup& reference, const ResultGroup& candidate,
                      const std::string& name) {
  Columns columns;
  AddRuns(reference, name, &Column::reference, &columns);
  AddRuns(candidate, name, &Column::candidate, &columns);
  std::erase_if(columns, [&](const auto& column) {
    return column.second.reference.size() != reference.runs.size() ||
           column.second.candidate.size() != candidate.runs.size();
  });
  return columns;
}

// Names that every run of both groups has.
std::vector<std::string> CommonNames(const ResultGroup& reference, const ResultGroup& candidate) {
  std::vector<std::string> names;
  for (const MllogCurve& curve : reference.runs.front().curves) {
    const auto has = [&](const MllogRun& run) { return FindCurve(run, curve.name) != nullptr; };
    if (std::all_of(reference.runs.begin(), reference.runs.end(), has) &&
        std::all_of(candidate.runs.begin(), candidate.runs.end(), has)) {
      names.push_back(curve.name);
    }
  }
  return names;
}

double Deviation(const stats::Moments& moments) { return std::sqrt(moments.Variance()); }

}  // namespace

std::vector<CommonCurve> BuildCommonCurves(const ResultGroup& reference,
                                           const ResultGroup& candidate) {
  std::vector<CommonCurve> curves;
  for (const std::string& name : CommonNames(reference, candidate)) {
    CommonCurve curve{.name = name, .unit = std::string(ConvergenceUnitName(reference.unit))};
    for (const auto& [position, column] : CommonColumns(reference, candidate, name)) {
      const stats::Moments before = stats::ComputeMoments(column.reference);
      const stats::Moments after = stats::ComputeMoments(column.candidate);
      curve.positions.push_back(position);
      curve.reference_mean.push_back(before.mean);
      curve.reference_deviation.push_back(Deviation(before));
      curve.candidate_mean.push_back(after.mean);
      curve.candidate_deviation.push_back(Deviation(after));
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

std::vector<MetricDecision> DecideLastEvaluations(const ResultGroup& reference,
                                                  const ResultGroup& candidate,
                                                  const ResultRules& rules) {
  std::vector<MetricDecision> decisions;
  for (const std::string& name : CommonNames(reference, candidate)) {
    const Columns columns = CommonColumns(reference, candidate, name);
    MetricInput input{.name = name, .primary = false};
    input.alpha_drift = rules.alpha_drift;
    input.alpha_equivalence = rules.alpha_equivalence;
    if (!columns.empty()) {
      const auto& [position, column] = *std::prev(columns.end());
      input.name = fmt::format("{} at {} {}", name, position, ConvergenceUnitName(reference.unit));
      input.history = column.reference;
      input.reruns = column.candidate;
    }
    decisions.push_back(DecideMetric(input));
  }
  return decisions;
}

}  // namespace rharness
