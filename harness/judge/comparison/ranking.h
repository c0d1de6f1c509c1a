// Compares the rankings of a sweep's settings: two folders of records, paired by run.
//
// Role: reads manifests and evidence for one metric, and words Kendall's tau
// (compare/stats/rank_agreement.h). Each run is a setting; if a run has several records in a
// folder, such as the reruns of a drill, its value is their mean.
#ifndef RHARNESS_HARNESS_JUDGE_COMPARISON_RANKING_H_
#define RHARNESS_HARNESS_JUDGE_COMPARISON_RANKING_H_

#include <filesystem>
#include <string>
#include <vector>

#include "compare/stats/rank_agreement.h"
#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/verdict/states.h"

namespace rharness {

struct RankedRun {
  std::string run_id;
  double a = 0.0;  // the metric, in its unit; a non-finite value ranks last
  double b = 0.0;
  int place_a = 1;  // 1 is the best; equal values have one place
  int place_b = 1;
};

struct RankingComparison {
  std::string metric;
  MetricDirection direction = MetricDirection::kNotStated;
  std::vector<RankedRun> runs;        // by their place in A, then by name
  std::vector<std::string> unpaired;  // "RUN is in A alone", and records without the metric
  double least = 0.0;                 // tau that must be shown
  stats::RankAgreement agreement;     // with 95 %
  int best = 0;                       // number of best runs of A to look at: 3, or fewer
  int best_again = 0;                 // of them, those among the same number of best of B
  std::string verdict;                // "kept", "lost" or "open"
  std::string headline;
  int exit_code = 3;  // 0, 1, 3
};

// `least`: the ranking is kept if the interval lies at or above it, lost if it lies below. Searches
// folders with their subfolders, for drills the evidence alone. Errors: not_found, io,
// invalid_input (an unreadable record, no run on both sides, no record with the metric's
// direction).
Result<RankingComparison> CompareRankings(const std::filesystem::path& a,
                                          const std::filesystem::path& b, const std::string& metric,
                                          double least);

// "rharness.ranking/v1".
Json ToJson(const RankingComparison& ranking);
std::string WriteTerminal(const RankingComparison& ranking);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_COMPARISON_RANKING_H_
