// What a rerun read of a file that was written since its record was made.
//
// Role: beside compare_rerun.h, for a record and its rerun. Looks at the times of files on this
// machine.
#ifndef RHARNESS_HARNESS_JUDGE_LEFT_FILES_H_
#define RHARNESS_HARNESS_JUDGE_LEFT_FILES_H_

#include <optional>
#include <vector>

#include "harness/records/manifest/manifest.h"
#include "harness/verdict/verdict.h"

namespace rharness {

// A program that keeps its state outside of its folder, and goes on from it, computes nothing of
// its own in a rerun: equal results show nothing. So each file outside that the rerun read, that
// the recorded run did not read, and that was written after that run began is "missing_start",
// which keeps the verdict open. Programs, caches below ".cache" and stores of models that are named
// by their content (Hugging Face's hub) are none. Without observations of both there is no finding.
std::vector<Finding> FindLeftFiles(const Manifest& recorded,
                                   const std::optional<Observation>& rerun);

// The recorded run read a file of its own folder, such as a checkpoint to go on from, and wrote
// over it: "start_not_recorded". A rerun begins without it, so bits that differ show nothing; equal
// bits show that the file played no part.
std::vector<Finding> FindUnknownStart(const Manifest& recorded);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_LEFT_FILES_H_
