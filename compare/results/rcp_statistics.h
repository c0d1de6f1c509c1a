// The arithmetic of the official RCP checker.
//
// Role: private to rcp.cc and rcp_set.cc.
// Source: rcp_checker; for sums the documentation of numpy.sum ("pairwise summation") and numpy's
// umath loops.
#ifndef RHARNESS_COMPARE_RESULTS_RCP_STATISTICS_H_
#define RHARNESS_COMPARE_RESULTS_RCP_STATISTICS_H_

#include <span>
#include <vector>

#include "compare/results/rcp.h"

namespace rharness {

// Sum in the order of numpy's reduction of a contiguous array: eight partial sums for blocks of at
// most 128, halves above. Means that should tie with a limit then tie as they do in the checker.
double NumpySum(std::span<const double> values);

// Mean after `rejected` on each side are left out; needs one value to remain.
double OlympicMeanAsChecked(std::vector<double> values, int rejected);

// Fills mean, deviation and limits from record->counts.
void ComputeRcpStatistics(const MlperfBenchmark& rules, RcpRecord* record);

// Linear in batch size between two records, low.batch_size < batch_size < high.batch_size.
RcpRecord InterpolateRcp(const MlperfBenchmark& rules, std::int64_t batch_size,
                         const RcpRecord& low, const RcpRecord& high);

// Sets `pruned`; records by batch size.
void PruneRcps(const MlperfBenchmark& rules, std::vector<RcpRecord>* records);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_RESULTS_RCP_STATISTICS_H_
