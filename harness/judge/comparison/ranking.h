// Is the ranking of a sweep's settings the same again? Two folders of records, paired by run.
//
// Role: reads manifests and evidence for one metric, and words what Kendall's tau says of them
// (compare/stats/rank_agreement.h). Each run is a setting; where a run has more than one record in
// a folder, such as the reruns of a drill, its value is their mean.
#ifndef RHARNESS_HARNESS_JUDGE_COMPARISON_RANKING_H_
#define RHARNESS_HARNESS_JUDGE_COMPARISON_RANKING_H_

#include <filesystem>
#include <string>
#include <vector>

#include "compare/stats/rank_agreement.h"
#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

struct RankedRun {
  std::string run_id;
  double a = 0.0;  // the metric, in its unit; not finite: ranked behind all that are
  double b = 0.0;
  int place_a = 1;  // 1 is the best; equal values have one place
  int place_b = 1;
};

struct RankingComparison {
  std::string metric;
  std::string direction;              // "higher" or "lower" is better
  std::vector<RankedRun> runs;        // by their place in A, then by name
  std::vector<std::string> unpaired;  // "RUN is in A alone", and records without the metric
  double least = 0.0;                 // tau that must be shown
  stats::RankAgreement agreement;     // with 95 %
  int best = 0;                       // how many are the best of A that are looked at: 3, or fewer
  int best_again = 0;                 // of them, those that are among so many best of B
  std::string verdict;                // "kept", "lost" or "open"
  std::string headline;
  int exit_code = 3;  // 0, 1, 3
};

// `least`: kept where the interval lies at or above it, lost where it lies below. Folders are
// looked through with their subfolders, of drills the evidence alone. Errors: not_found, io,
// invalid_input (a record that cannot be read, no run on both sides, no record that says which way
// is better).
Result<RankingComparison> CompareRankings(const std::filesystem::path& a,
                                          const std::filesystem::path& b, const std::string& metric,
                                          double least);

// "rharness.ranking/v1".
Json ToJson(const RankingComparison& ranking);
std::string WriteTerminal(const RankingComparison& ranking);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_COMPARISON_RANKING_H_
