// The measured effect of rounding alone on the runs of one configuration on one stack.
//
// Role: gathered by replicates.h; the yardstick for curves and metrics. Pure.
#ifndef RHARNESS_HARNESS_JUDGE_ENVELOPE_H_
#define RHARNESS_HARNESS_JUDGE_ENVELOPE_H_

#include <optional>
#include <string>
#include <vector>

#include "compare/curves/curve_comparison.h"
#include "compare/facts.h"
#include "compare/metrics/paired.h"
#include "harness/base/clock.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// The hook of a command: 1, 2, ... in a replicate, and absent otherwise. A run that sees it moves
// initial weights, one or all, others for each number, to neighbouring numbers of their format.
inline constexpr char kReplicateVariable[] = "RHARNESS_REPLICATE";

// An envelope with fewer degrees of freedom decides nothing.
inline constexpr int kFewestDegrees = 3;

// Groups of runs of one seed on one stack, which differ by rounding alone. Each group has two or
// more differing runs. The counts are of runs beside one per group, by origin:
struct Envelope {
  std::vector<std::vector<RunMetrics>> groups;
  int recorded = 0;  // repeats in the history of one seed on the stack of their record
  int reruns = 0;    // further reruns of a run in this drill
  int made = 0;      // replicates
  WallTime made_at{};

  int Degrees() const { return recorded + reruns + made; }
};

// Of a recorded run, as if a rerun had reported it.
RunMetrics MeasuredOf(const Manifest& manifest);

// Whether two runs report the same bits, without times and memory.
bool SameMeasured(const RunMetrics& a, const RunMetrics& b);

// Adds the distinct ones of these runs, of one seed on one stack. Returns how many differ beside
// one; if 0, adds nothing.
int AddGroup(const std::vector<RunMetrics>& runs, Envelope* envelope);

// "3 replicates made on this stack on 2026-11-20", "2 recorded repeats, 1 replicate made ...".
std::string SourceOf(const Envelope& envelope);

RoundingRuns RoundingOf(const Envelope& envelope);

// Of one metric, pooled over the groups, not below its quantum; df = 0 if no value differs: a zero
// is no measured spread.
SeedSpread RoundingOf(const Envelope& envelope, const std::string& metric, double quantum);

// A digest of a run's stack: every known fact of environment and hardware except the hook, the
// GPUs' numbers and unset variables.
std::string StackOf(const std::vector<Fact>& facts);

// Whether no fact known of both stacks differs.
bool MayBeOneStack(const std::vector<Fact>& a, const std::vector<Fact>& b);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_ENVELOPE_H_
