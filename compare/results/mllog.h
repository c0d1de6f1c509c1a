// One MLPerf training result: the configuration, evaluations and end of a run.
//
// Role: a result log to values. Not here: several runs (result_group.h), acceptance (rcp.h).
// Counts convergence as the official checker does: the evaluation logged last before a successful
// run_stop; Stable Diffusion: the first at which both metrics hold. Differs from it on purpose:
// keys are matched whole, not as text anywhere in a line; a file that contradicts itself is an
// error (there the last line wins). Left out: its option to count BERT by train_samples. Source:
// MLCommons logging 4.1.68, rcp_checker.
#ifndef RHARNESS_COMPARE_RESULTS_MLLOG_H_
#define RHARNESS_COMPARE_RESULTS_MLLOG_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/results/mlperf_benchmarks.h"
#include "harness/base/result.h"

namespace rharness {

// Global batch sizes are below it, in logs and in reference points.
inline constexpr std::int64_t kBatchSizeLimit = 1'000'000'000;

struct MllogEvaluation {
  double position = 0.0;  // in the run's unit, >= 0
  double value = 0.0;     // may be NaN or infinite
  int line = 0;
};

// Positions strictly increase: the second evaluation at one position goes to the curve
// "eval_accuracy #2". Repeated lines with an equal value are one evaluation.
struct MllogCurve {
  std::string name;  // "eval_accuracy", "eval_error", "eval_accuracy/FID"
  std::vector<MllogEvaluation> evaluations;
};

enum class MllogStatus {
  kSuccess,
  kAborted,     // run_stop with any other status
  kIncomplete,  // no run_stop: the program died or was stopped
};
std::string_view MllogStatusName(MllogStatus status);  // "success", "aborted", "incomplete"

struct MllogRun {
  std::string file;
  std::string benchmark;
  std::string organisation;
  std::string platform;
  std::int64_t global_batch_size = 0;  // > 0, < 10^9; train_batch_size if not logged
  std::vector<std::string> seeds;      // distinct, in the order of the log
  // Settings that define the training, opt_* and the like, in one spelling: 1.0 is "1".
  std::map<std::string, std::string> hyperparameters;
  // Settings derived from the machine or that only bound the run: gradient_accumulation_steps, ...
  std::map<std::string, std::string> context;
  std::optional<double> target;  // quality to reach, if logged
  ConvergenceUnit unit = ConvergenceUnit::kEpochs;
  std::vector<MllogCurve> curves;  // evaluations before run_stop, by name
  MllogStatus status = MllogStatus::kIncomplete;
  std::optional<double> converged_at;  // in `unit`, > 0; empty: the target was not reached
  // For Stable Diffusion, if the log counts steps as well: the same in steps.
  std::optional<double> converged_at_step;
  std::optional<double> run_seconds;  // run_start to run_stop
  // Expected keys missing from this result, such as "seed".
  std::vector<std::string> missing;
};

// Errors (invalid_input, at "FILE: line N" if a line causes it): required keys missing
// (submission_benchmark, global_batch_size, run_start; all missing ones are named); two runs in one
// file; a setting logged twice with different values; an evaluation without its
// position or with one that is no number in [0, 10^15]; success without an evaluation (for Stable
// Diffusion: without one that passes) or at position 0; more than 100,000 evaluations, 16 of one
// metric at one position, 1,024 settings, 65,536 seeds, names over 1,024 bytes; whatever
// ForEachMllogEvent refuses.
Result<MllogRun> ParseMllog(std::string_view text, std::string_view file);

// Refuses files over 256 MiB. Errors: as ReadFile and ParseMllog.
Result<MllogRun> LoadMllog(const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_RESULTS_MLLOG_H_
