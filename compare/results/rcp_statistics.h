// The arithmetic of the official RCP checker.
//
// Role: private to rcp.cc and rcp_set.cc.
#ifndef RHARNESS_COMPARE_RESULTS_RCP_STATISTICS_H_
#define RHARNESS_COMPARE_RESULTS_RCP_STATISTICS_H_

#include <vector>

#include "compare/results/rcp.h"

namespace rharness {

// Fills mean, deviation and limits from record->counts.
void ComputeRcpStatistics(const MlperfBenchmark& rules, RcpRecord* record);

// Linear in batch size between two records, low.batch_size < batch_size < high.batch_size.
RcpRecord InterpolateRcp(const MlperfBenchmark& rules, std::int64_t batch_size,
                         const RcpRecord& low, const RcpRecord& high);

// Sets `pruned`; records by batch size.
void PruneRcps(const MlperfBenchmark& rules, std::vector<RcpRecord>* records);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_RESULTS_RCP_STATISTICS_H_
