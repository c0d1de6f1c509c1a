// Declared outputs that no reader opens, by the SHA-256 of their bytes.
//
// Role: beside compare_rerun.h, for a record and its rerun as for any two records. Pure.
#ifndef RHARNESS_HARNESS_JUDGE_OUTPUT_FILES_H_
#define RHARNESS_HARNESS_JUDGE_OUTPUT_FILES_H_

#include <vector>

#include "compare/comparison.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// Whether these are compared as files: they are no checkpoint, or one whose tensors were read on at
// most one side, and both file digests exist. `seen`: null if absent.
bool IsComparedAsFile(const Artifact& recorded, const Artifact* seen);

// Adds every output that is compared as a file: equal, or different, which is open ("not_compared",
// with the remedy) unless its role allows it to differ (artifact.h). An output on one side alone,
// or without a digest, is also open ("missing_output"). The metrics file is compared by its values,
// and no rerun writes the files that a tracker keeps beside the run: a note says so. `a` and `b`:
// of one run, or of two.
void CompareOutputFiles(const Manifest& a, const Manifest& b, Comparison* comparison);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_OUTPUT_FILES_H_
