// RCP compatibility: the official checker's decision on a group of MLPerf results.
//
// Role: reference convergence points (RCPs) and a group in, the checker's decision with every
// number out. Compatibility only: its test is one-sided (slower always passes), takes "not shown to
// be faster" as a pass, and assumes both sides scatter alike; compare_results.h decides by itself.
// Does not: check compliance of logs, seeds, hyperparameters or the number of runs (the
// package checker's work), write scaling.json, bypass a failure, or count BERT by train_samples.
// The rules are those of checker 4.1.68 for the reference points of every release, 1.0 to 6.1, as
// that checker applies them; checkers before 4.1 took the deviation of the trimmed counts. Source:
// MLCommons logging 4.1.68, rcp_checker and result_summarizer.
#ifndef RHARNESS_COMPARE_RESULTS_RCP_H_
#define RHARNESS_COMPARE_RESULTS_RCP_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/metrics/decision.h"
#include "compare/results/mlperf_benchmarks.h"
#include "compare/results/result_group.h"
#include "harness/base/result.h"

namespace rharness {

struct RcpRecord {
  std::string name;  // "retinanet_ref_256"; "retinanet_interp_300" for an interpolated one
  std::int64_t batch_size = 0;
  std::vector<double> counts;       // epochs or samples to converge, ascending
  double mean = 0.0;                // olympic
  double standard_deviation = 0.0;  // population formula over all counts
  // Smallest acceptable mean of a submission, by the checker's bisection to 1e-4; 0 at least.
  double min_mean = 0.0;
  double max_speedup = 0.0;  // mean / min_mean
  bool pruned = false;       // left out by the checker's pruning
};

struct RcpSet {
  MlperfBenchmark rules;
  ConvergenceUnit unit = ConvergenceUnit::kEpochs;  // of the counts, and so of a submission's
  std::vector<RcpRecord> records;  // by batch size, strictly increasing; one or more
};

// Reads a file of records ("Benchmark", "BS", "Epochs to converge"; for flux1 and llama2_70b_lora
// "samples to converge"), computes their statistics and prunes: sizes below that of the
// record with the fastest mean, then, from small to large, records slower than the line between
// their neighbours. Records of "sd" are those of Stable Diffusion, in steps.
// Errors (invalid_input): a benchmark without rules, or two of them; two records
// of one batch size; a count outside of (0, 10^15]; too few counts for a test, or more than 10,000;
// more than 10,000 records.
Result<RcpSet> ParseRcpSet(std::string_view text, std::string_view file);
Result<RcpSet> LoadRcpSet(const std::filesystem::path& path);
// folder/rcps_BENCHMARK.json. Errors: invalid_input for a benchmark without rules, as above.
Result<RcpSet> LoadRcpSetOf(const std::filesystem::path& folder, std::string_view benchmark);

struct RcpOptions {
  bool use_pruned = true;      // as the package checker does
  bool rules_from_5_0 = true;  // grants llama31_405b its allowance
};

enum class RcpCase {
  kFound,            // a record of the batch size
  kInterpolated,     // between two records
  kSmallestRecord,   // below all records: compared with the smallest
  kMissingRecord,    // above all records, or faster than the smallest one: a record is missing
  kMixedBatchSizes,  // or mixed benchmarks: nothing to look up
  kNotConverged,     // more runs missed the target than the rules allow
};
// "found", "interpolated", "smallest_record", "missing_record", "mixed_batch_sizes",
// "not_converged"
std::string_view RcpCaseName(RcpCase which);

struct RcpDecision {
  bool pass = false;
  RcpCase which = RcpCase::kMissingRecord;
  std::string message;  // one sentence
  std::int64_t batch_size = 0;
  int runs = 0;
  int runs_expected = 0;  // by the rules; the checker does not look
  int not_converged = 0;
  int may_not_converge = 0;
  // Olympic mean, epochs rounded to thousandths; runs that did not converge count 10^9, which among
  // the samples of gpt3 is the fastest. Empty: fewer than 2 x rejected + 1 runs.
  std::optional<double> submission_mean;
  std::optional<RcpRecord> record;  // the record that the submission was compared with
  double min_mean = 0.0;            // in force, with the benchmark's allowance; may be negative
  double speedup = 0.0;             // record mean / submission mean
  double normalisation = 1.0;       // max(1, speedup): the factor on the score
  // Olympic mean of run_start to run_stop, and times `normalisation` when it passes. Empty if a
  // converged run has no times.
  std::optional<double> score_minutes;
  std::optional<double> normalised_score_minutes;
};

// Errors (invalid_input): the group ran another benchmark than the set's, or does not count in its
// unit.
Result<RcpDecision> CheckRcp(const ResultGroup& group, const RcpSet& set,
                             const RcpOptions& options = {});

// Variance of ln(count) over the records of a benchmark, for ResultRules::prior. Records without
// spread are left out; df = 0 when fewer than five are left.
VariancePrior FitRcpPrior(const RcpSet& set);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_RESULTS_RCP_H_
