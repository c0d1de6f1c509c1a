// Faults in a copy of what a rerun left, and a rerun as if it were the record. Pure.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_PLANTED_EVIDENCE_H_
#define RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_PLANTED_EVIDENCE_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/experiments/gameday/faults.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// Shifts a metric or a curve of `evidence`. A metric moves to where it is worse (away from its
// direction; up where it has none), by the standard deviation of `others`: what runs of the same
// configuration, this one left out, recorded of it. Errors: unsupported, whose message says why
// not: the run has no such metric or curve, or fewer than kFewestOthers others have it.
inline constexpr std::size_t kFewestOthers = 3;
Status PlantInNumbers(const Fault& fault, const Manifest& run, const std::vector<Manifest>& others,
                      Evidence* evidence);

// The record as it would be had this rerun been recorded: its inputs and its outputs, those that
// lie in `folder`, the game day's, as absolute locations.
Manifest AsRecorded(const Manifest& run, const Evidence& rerun,
                    const std::filesystem::path& folder);

// Whether two reruns left the same tensors, metrics and curves.
bool SameOutputs(const Evidence& a, const Evidence& b);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_PLANTED_EVIDENCE_H_
