// The data set of a metric of MLflow: as logged with it, or hinted by contexts.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/records/intake/clean.h"
#include "harness/records/intake/mlflow_run.h"

namespace rharness {
namespace {

using DataSet = std::pair<std::string, std::string>;  // name and digest

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

// "test_accuracy", "eval/loss" and "val-f1" are no metrics of training.
bool NamesEvaluation(std::string_view metric) {
  const std::string_view first = metric.substr(0, metric.find_first_of("_/-. "));
  return IsOneOf(first, {"eval", "evaluation", "test", "testing", "val", "valid", "validation"});
}

bool IsOfEvaluation(const MlflowInput& input) {
  return IsOneOf(input.context,
                 {"eval", "evaluation", "test", "testing", "val", "valid", "validation"});
}

}  // namespace

void SayMeasuredOn(const std::string& metric, DataSet set, MlflowRun* run) {
  if (set.first.empty()) return;
  const auto [there, is_new] = run->measured_on.emplace(metric, set);
  if (!is_new && there->second != set) there->second = {};
}

void SetMlflowEvalSets(const MlflowRun& from, const std::map<DataSet, std::string>& names,
                       ImportedRun* run) {
  std::map<DataSet, std::string> of_evaluation;
  for (const MlflowInput& input : from.inputs) {
    if (IsOfEvaluation(input)) of_evaluation[{input.name, input.digest}] = input.context;
  }
  for (const auto& [metric, points] : from.metrics) {
    if (points.empty() || IsMlflowSystemMetric(metric)) continue;
    const auto logged = from.measured_on.find(metric);
    if (logged != from.measured_on.end()) {
      const auto name = names.find(logged->second);
      if (name == names.end()) {
        run->Remark(
            fmt::format("metrics.{}: logged with several data sets, or with one that is "
                        "no input of the run",
                        CleanText(metric, 100)));
        continue;
      }
      run->SetEvalSet(metric, name->second,
                      Hint("the data set that the metric was logged with",
                           "MLflow's digest is of the first rows alone"));
    } else if (of_evaluation.size() == 1 && NamesEvaluation(metric)) {
      const auto& [set, context] = *of_evaluation.begin();
      run->SetEvalSet(metric, names.at(set),
                      Hint("the run's one input of context " + CleanText(context, 40),
                           "the metric's name fits; MLflow's digest is of the first rows alone"));
    }
  }
}

}  // namespace rharness
