// Two subjects side by side: every tensor, curve, metric and fact that both have, then the verdict
// and its causes.
#ifndef RHARNESS_HARNESS_COMPARISON_COMPARE_SUBJECTS_H_
#define RHARNESS_HARNESS_COMPARISON_COMPARE_SUBJECTS_H_

#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/results/rcp.h"
#include "harness/base/result.h"
#include "harness/comparison/subject.h"

namespace rharness {

struct CompareOptions {
  // Empty: bits are expected of checkpoints, environments and fingerprints, of manifests when both
  // declare them, and of curves and results never.
  std::optional<bool> expect_bitwise;
  CurveRules curves;
  std::optional<RcpSet> rcp;  // reference convergence points: the official checker's decision too
  int threads = 0;            // 0: one per core
};

// Pure but for reading the checkpoints' bytes. `replicates`: further runs of A's configuration;
// their curves make the divergence envelope, their metrics the history, their result groups the
// family. Errors: those of Checkpoint::Read and CheckUnchanged, integrity when a kept checkpoint
// is not the recorded one.
Result<Comparison> CompareSubjects(const Subject& a, const Subject& b,
                                   const std::vector<Subject>& replicates,
                                   const CompareOptions& options);

// The parts, each for what both sides have of it.
Result<std::vector<CheckpointComparison>> CompareWeights(const Subject& a, const Subject& b,
                                                         int threads,
                                                         std::vector<std::string>* notes);
std::vector<MetricDecision> CompareMetrics(const Subject& a, const Subject& b,
                                           const std::vector<Subject>& replicates);

// MLPerf results decide by themselves: fills verdict, findings, metrics, curves and layers.
void CompareResultGroups(const ResultGroup& a, const ResultGroup& b,
                         const std::vector<Subject>& replicates, const CompareOptions& options,
                         Comparison* comparison);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_COMPARISON_COMPARE_SUBJECTS_H_
