// Runs to a group: agreement, differences, and the progress of each.
#include "compare/results/result_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace rharness {
namespace {

using Settings = std::map<std::string, std::string>;

void Note(Finding finding, ResultGroup* group) { group->findings.push_back(std::move(finding)); }

// `value` of every run must be that of the first; else a finding that names the first other one.
template <class Value>
bool Agree(const ResultGroup& group, const Value& value, std::string_view code,
           std::string_view what, std::vector<Finding>* findings) {
  const std::string expected = fmt::format("{}", value(group.runs.front()));
  for (const MllogRun& run : group.runs) {
    const std::string observed = fmt::format("{}", value(run));
    if (observed == expected) continue;
    findings->push_back({.code = std::string(code),
                         .subject = std::string(what),
                         .observed = observed,
                         .limit = expected,
                         .rule = "the runs of a group share one configuration",
                         .message = fmt::format("{} is {} in {} and {} in {}", what, observed,
                                                run.file, expected, group.runs.front().file)});
    return false;
  }
  return true;
}

const std::string& Setting(const Settings& settings, const std::string& key) {
  static const std::string absent = "(absent)";
  const auto at = settings.find(key);
  return at == settings.end() ? absent : at->second;
}

bool AgreeSettings(Settings MllogRun::*member, std::string_view code, ResultGroup* group) {
  std::set<std::string> keys;
  for (const MllogRun& run : group->runs) {
    for (const auto& [key, value] : run.*member) keys.insert(key);
  }
  bool agree = true;
  for (const std::string& key : keys) {
    const auto value = [&](const MllogRun& run) { return Setting(run.*member, key); };
    agree = Agree(*group, value, code, key, &group->findings) && agree;
  }
  return agree;
}

void CheckConfiguration(ResultGroup* group) {
  std::vector<Finding>* findings = &group->findings;
  const auto benchmark = [](const MllogRun& run) { return run.benchmark; };
  const auto batch = [](const MllogRun& run) { return run.global_batch_size; };
  const auto platform = [](const MllogRun& run) { return run.platform; };
  group->coherent = Agree(*group, benchmark, "mixed_benchmark", "submission_benchmark", findings);
  group->coherent &= Agree(*group, batch, "mixed_batch_size", "global_batch_size", findings);
  group->coherent &= AgreeSettings(&MllogRun::hyperparameters, "mixed_hyperparameter", group);
  const auto unit = [](const MllogRun& run) { return ConvergenceUnitName(run.unit); };
  group->coherent &= Agree(*group, unit, "mixed_benchmark", "unit of convergence", findings);
  AgreeSettings(&MllogRun::context, "mixed_context", group);
  Agree(*group, platform, "mixed_platform", "submission_platform", findings);
}

void CheckSeeds(ResultGroup* group) {
  std::map<std::string, std::string> files;
  for (const MllogRun& run : group->runs) {
    for (const std::string& seed : run.seeds) {
      const auto [at, is_new] = files.try_emplace(seed, run.file);
      if (is_new) continue;
      group->seeds_distinct = false;
      Note({.code = "duplicate_seed",
            .subject = "seed " + seed,
            .rule = "runs are replicates only if their seeds differ",
            .message = fmt::format("{} and {} have the same seed, {}", at->second, run.file, seed)},
           group);
    }
  }
}

void CheckCompleteness(ResultGroup* group) {
  for (const MllogRun& run : group->runs) {
    for (const std::string& key : run.missing) {
      Note({.code = "missing_key",
            .subject = key,
            .rule = "a result says what it ran",
            .message = fmt::format("{}: no {}", run.file, key)},
           group);
    }
  }
  const MlperfBenchmark* rules = FindMlperfBenchmark(group->benchmark);
  const auto runs = static_cast<int>(group->runs.size());
  if (rules == nullptr || rules->submission_runs == runs) return;
  Note({.code = "run_count",
        .subject = group->benchmark,
        .observed = fmt::format("{}", runs),
        .limit = fmt::format("{}", rules->submission_runs),
        .rule = "the rules of the benchmark fix the number of runs",
        .message = fmt::format("{} runs; the rules of {} require {}", runs, group->benchmark,
                               rules->submission_runs)},
       group);
}

void CheckFinite(ResultGroup* group) {
  for (const MllogRun& run : group->runs) {
    for (const MllogCurve& curve : run.curves) {
      const auto bad = std::find_if(curve.evaluations.begin(), curve.evaluations.end(),
                                    [](const auto& one) { return !std::isfinite(one.value); });
      if (bad == curve.evaluations.end()) continue;
      Note(
          {.code = "non_finite_evaluation",
           .subject = curve.name,
           .observed = fmt::format("{}", bad->value),
           .rule = "an evaluation is a finite number",
           .message = fmt::format("{}: line {}: {} is {} at {} {}", run.file, bad->line, curve.name,
                                  bad->value, bad->position, ConvergenceUnitName(run.unit))},
          group);
    }
  }
}

void CountConvergence(ResultGroup* group) {
  for (const MllogRun& run : group->runs) {
    if (run.converged_at) {
      group->converged.push_back(*run.converged_at);
      continue;
    }
    ++group->not_converged;
    Note({.code = "not_converged",
          .subject = run.file,
          .observed = std::string(MllogStatusName(run.status)),
          .limit = "success",
          .rule = "a run that misses the target is an outcome of its own, never left out",
          .message = fmt::format("{} ended as {}", run.file, MllogStatusName(run.status))},
         group);
  }
}

double LastSpacing(const MllogCurve& curve) {
  const std::size_t n = curve.evaluations.size();
  if (n == 0) return 0.0;
  const double last = curve.evaluations[n - 1].position;
  return n == 1 ? last : last - curve.evaluations[n - 2].position;
}

double MedianSpacing(const std::vector<MllogRun>& runs) {
  std::vector<double> spacings;
  for (const MllogRun& run : runs) {
    if (!run.curves.empty()) spacings.push_back(LastSpacing(run.curves.front()));
  }
  if (spacings.empty()) return 0.0;
  const auto middle = spacings.begin() + static_cast<std::ptrdiff_t>(spacings.size() / 2);
  std::nth_element(spacings.begin(), middle, spacings.end());
  return *middle;
}

// Runs that were evaluated on other grids are counted otherwise.
void CheckGrid(ResultGroup* group) {
  group->grid = GridOf(group->runs);
  if (!group->grid) return;
  group->context["evaluation_grid"] = DescribeGrid(*group->grid, group->unit);
  const double bias = GridBias(group->runs, *group->grid);
  if (std::fabs(bias - 1.0) <= kLargestGridBias) return;
  group->coherent = false;
  Note({.code = "mixed_evaluation_grid",
        .subject = "evaluation_grid",
        .observed = fmt::format("{:.4g}", bias),
        .limit = fmt::format("1 ± {}", kLargestGridBias),
        .rule = "the runs of a group are counted on one grid of evaluations",
        .message = fmt::format("runs of {} were evaluated at other distances than {}: on that grid "
                               "alone they would count {:.4g} times as much",
                               group->name, group->context["evaluation_grid"], bias)},
       group);
}

}  // namespace

Result<ResultGroup> BuildResultGroup(std::string name, std::vector<MllogRun> runs) {
  if (runs.empty()) return InvalidInput("a group of no runs", name);
  ResultGroup group;
  group.name = std::move(name);
  group.runs = std::move(runs);
  const MllogRun& first = group.runs.front();
  group.submitter = first.organisation;
  group.benchmark = first.benchmark;
  group.global_batch_size = first.global_batch_size;
  group.unit = first.unit;
  group.hyperparameters = first.hyperparameters;
  group.context = first.context;
  CheckConfiguration(&group);
  CheckGrid(&group);
  CheckSeeds(&group);
  CheckCompleteness(&group);
  CheckFinite(&group);
  CountConvergence(&group);
  group.quantum = MedianSpacing(group.runs);
  return group;
}

}  // namespace rharness
