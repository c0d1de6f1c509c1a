// Compares two subjects: every tensor, curve, metric and fact of both, then the verdict and its
// causes.
#ifndef RHARNESS_HARNESS_JUDGE_COMPARISON_COMPARE_SUBJECTS_H_
#define RHARNESS_HARNESS_JUDGE_COMPARISON_COMPARE_SUBJECTS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "compare/results/rcp.h"
#include "harness/base/result.h"
#include "harness/judge/comparison/subject.h"

namespace rharness {

// Differences that matter, by the name of a metric.
using Margins = std::map<std::string, double>;

struct CompareOptions {
  // Empty: bits are expected for checkpoints and environments, for manifests if both declare them,
  // and never for curves and results.
  std::optional<bool> expect_bitwise;
  CurveRules curves;
  std::optional<RcpSet> rcp;  // reference convergence points: adds the official checker's decision
  // Of metrics by name; of scores of evaluations by "TASK/SCORE" or "SCORE"; of tokens "kl", in
  // nats a token.
  Margins margins;
  std::optional<bool> sampled_by_b;  // who drew the tokens; empty: as the files say
  bool weights_only = false;  // compare the weights alone of a checkpoint with optimizer state
  int threads = 0;            // 0: one per core
};

// A filled comparison that is not judged yet, with the further input of Explain.
struct Gathered {
  Comparison comparison;
  std::vector<Fact> facts_a;
  std::vector<Fact> facts_b;
  bool judged = false;  // fingerprints and MLPerf results judge themselves
};

// The first half of CompareSubjects: everything but verdict and causes. Errors: as there.
Result<Gathered> GatherComparison(const Subject& a, const Subject& b,
                                  const std::vector<Subject>& replicates,
                                  const CompareOptions& options);
// The second half.
Comparison FinishComparison(Gathered gathered);

// Pure except for reading the checkpoints' bytes. `replicates`: further runs of A's configuration;
// their curves make the divergence envelope, their metrics the history, their result groups the
// family. Errors: those of Checkpoint::Read and CheckUnchanged, integrity when a kept checkpoint is
// not the recorded one.
Result<Comparison> CompareSubjects(const Subject& a, const Subject& b,
                                   const std::vector<Subject>& replicates,
                                   const CompareOptions& options);

// The metrics that both sides have. A margin of `margins` replaces the record's own.
std::vector<MetricDecision> CompareMetrics(const Subject& a, const Subject& b,
                                           const std::vector<Subject>& replicates,
                                           const Margins& margins = {});

// Fingerprints decide by their probes: fills verdict, headline and findings, one per changed probe.
// Layers and causes report changes of the stack around them.
void CompareFingerprints(const Fingerprint& a, const Fingerprint& b, Comparison* comparison);

// MLPerf results decide by themselves: fills verdict, findings, metrics, curves and layers. Errors:
// those of CheckRcp.
Status CompareResultGroups(const ResultGroup& a, const ResultGroup& b,
                           const std::vector<Subject>& replicates, const CompareOptions& options,
                           Comparison* comparison);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_COMPARISON_COMPARE_SUBJECTS_H_
