// The rules of MLPerf for each benchmark: runs, unit of convergence, scoring.
//
// Role: a table for readers and for the RCP mode. Names are those that logs carry under
// submission_benchmark; the official checker maps them to files and rules one to one.
// Source: MLCommons logging 4.1.68, rcp_checker (submission_runs and the reading of a result). It
// no longer lists dlrm, the benchmark of rules 1.0 to 2.1: its five runs are those of the checkers
// of that time.
#ifndef RHARNESS_COMPARE_RESULTS_MLPERF_BENCHMARKS_H_
#define RHARNESS_COMPARE_RESULTS_MLPERF_BENCHMARKS_H_

#include <string_view>

namespace rharness {

// The unit of the position of an evaluation.
enum class ConvergenceUnit {
  kEpochs,   // metadata.epoch_num, which may be a fraction; some benchmarks put samples there
  kSamples,  // metadata.samples_count
  kSteps,    // metadata.step_num: Stable Diffusion under rules 3.1
};
std::string_view ConvergenceUnitName(ConvergenceUnit unit);  // "epochs", "samples", "steps"

struct MlperfBenchmark {
  std::string_view name;
  int submission_runs = 0;  // of one result; the reference needs twice as many
  ConvergenceUnit unit = ConvergenceUnit::kEpochs;
  int rejected_each_side = 1;  // by the olympic mean
  int may_not_converge = 1;    // runs of a result that may miss the target
  // Subtracted from the smallest acceptable mean from rules 5.0 on.
  double extra_allowance = 0.0;
};

// nullptr for a name that the rules do not know. Training and HPC.
const MlperfBenchmark* FindMlperfBenchmark(std::string_view name);

// Stable Diffusion has two metrics and stops at the first evaluation at which both hold.
inline constexpr std::string_view kStableDiffusion = "stable_diffusion";
// Its name in the reference points of rules 3.1, which count steps.
inline constexpr std::string_view kStableDiffusionBySteps = "sd";
inline constexpr double kLargestFid = 90.0;
inline constexpr double kSmallestClip = 0.15;

}  // namespace rharness

#endif  // RHARNESS_COMPARE_RESULTS_MLPERF_BENCHMARKS_H_
