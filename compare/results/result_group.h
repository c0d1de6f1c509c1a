// The seeds of one configuration: a folder of MLPerf result logs.
//
// Role: runs to a group that can be compared. Not here: comparison (compare_results.h), acceptance
// (rcp.h).
#ifndef RHARNESS_COMPARE_RESULTS_RESULT_GROUP_H_
#define RHARNESS_COMPARE_RESULTS_RESULT_GROUP_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/results/evaluation_grid.h"
#include "compare/results/mllog.h"
#include "harness/base/result.h"
#include "harness/verdict/verdict.h"

namespace rharness {

struct ResultGroup {
  std::string name;            // "SUBMITTER/SYSTEM" in MLPerf's layout, else the folder's name
  std::string submitter;       // the folder above "results", else submission_org of the first run
  std::vector<MllogRun> runs;  // one or more; result_2 before result_10

  // Values of the first run; `coherent` states whether the others agree.
  std::string benchmark;
  std::int64_t global_batch_size = 0;
  ConvergenceUnit unit = ConvergenceUnit::kEpochs;
  std::map<std::string, std::string> hyperparameters;
  std::map<std::string, std::string> context;  // and "evaluation_grid", in words

  std::vector<double> converged;  // count at the target, of the runs that reached it; > 0
  int not_converged = 0;          // censored: aborted, or without an end
  // Resolution of the log at the target: the median over the runs of the distance between the last
  // two evaluations, in `unit`; 0 when no run has an evaluation.
  double quantum = 0.0;
  std::optional<EvaluationGrid> grid;  // of most runs; empty: no evaluation

  bool coherent = true;        // one benchmark, batch size, unit, set of hyperparameters and grid
  bool seeds_distinct = true;  // no seed belongs to two runs
  std::vector<Finding> findings;
};

// Pure. Findings: mixed_benchmark, mixed_batch_size, mixed_hyperparameter, mixed_evaluation_grid
// (these end coherence; the last if the group's grid would move the mean count of its runs by more
// than kLargestGridBias),
// mixed_context, mixed_platform, duplicate_seed, missing_key, not_converged, run_count (not the
// number that the rules ask for), non_finite_evaluation.
// Errors (invalid_input): no runs.
Result<ResultGroup> BuildResultGroup(std::string name, std::vector<MllogRun> runs);

// Whether a file of this name is a result log: result_*.txt.
bool IsResultLog(std::string_view name);

// Whether a folder holds one. False if it cannot be listed.
bool HoldsResultLogs(const std::filesystem::path& folder);

// The files result_*.txt of a folder, as the official checker picks them.
// Errors: not_found (no such folder, no such file in it), invalid_input (a log that cannot be
// read, more than 1,000 of them), integrity (a link that leaves the folder), io.
Result<ResultGroup> LoadResultGroup(const std::filesystem::path& folder);

// Every folder at or below `root` that holds result_*.txt, by path. Links to folders are not
// followed. Errors: as above; more than 100,000 entries, deeper than 16 folders.
Result<std::vector<ResultGroup>> LoadResultGroups(const std::filesystem::path& root);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_RESULTS_RESULT_GROUP_H_
