// Plants faults in a copy of a rerun's evidence, and presents a rerun as a record. Pure.
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

// Shifts a metric or a curve of `evidence`. A metric gets worse (against its direction; up if it
// has none), by the standard deviation of `others`: the values recorded by the other runs of the
// same configuration. Errors: unsupported, with the reason: the run has no such metric or curve, or
// fewer than kFewestOthers others have it.
inline constexpr std::size_t kFewestOthers = 3;
Status PlantInNumbers(const Fault& fault, const Manifest& run, const std::vector<Manifest>& others,
                      Evidence* evidence);

// The record that this rerun would have made: its inputs and its outputs; those in `folder`, the
// game day's, have absolute locations.
Manifest AsRecorded(const Manifest& run, const Evidence& rerun,
                    const std::filesystem::path& folder);

// Whether two reruns have the same tensors, metrics and curves.
bool SameOutputs(const Evidence& a, const Evidence& b);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_GAMEDAY_PLANTED_EVIDENCE_H_
