// How far rounding alone carries the runs of one configuration on one stack, as far as it was
// measured.
//
// Role: what replicates.h gathers and what curves and metrics are held to. Pure.
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

// The hook of a command: 1, 2, ... in a replicate, and absent elsewhere. A run that sees it moves
// initial weights, one or all, others for each number, to neighbouring numbers of their format.
inline constexpr char kReplicateVariable[] = "RHARNESS_REPLICATE";

// Below so many degrees of freedom an envelope decides nothing.
inline constexpr int kFewestDegrees = 3;

// Groups of runs of one seed on one stack, which differ by rounding alone. Each group has its runs
// that differ, two or more. How many others beside one the groups have, by where they came from:
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

// Whether two runs report the same bits, times and memory left out.
bool SameMeasured(const RunMetrics& a, const RunMetrics& b);

// Adds these runs, of one seed on one stack, each that differs once. Returns how many differ beside
// one; with 0 nothing is added.
int AddGroup(const std::vector<RunMetrics>& runs, Envelope* envelope);

// "3 replicates made on this stack on 2026-11-20", "2 recorded repeats, 1 replicate made ...".
std::string SourceOf(const Envelope& envelope);

RoundingRuns RoundingOf(const Envelope& envelope);

// Of one metric, pooled over the groups, not below its quantum; df = 0 where no value differs: a
// zero is no spread that was measured.
SeedSpread RoundingOf(const Envelope& envelope, const std::string& metric, double quantum);

// What a run ran on, as a digest: every known fact of environment and hardware but the hook, the
// GPUs' numbers and what was not set.
std::string StackOf(const std::vector<Fact>& facts);

// Whether nothing that is known of both stacks differs.
bool MayBeOneStack(const std::vector<Fact>& a, const std::vector<Fact>& b);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_ENVELOPE_H_
