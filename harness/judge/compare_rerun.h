// Compares a manifest with evidence: the comparison of one rerun.
//
// Role: turns records into the types of compare/. Reads kept weights.
#ifndef RHARNESS_HARNESS_JUDGE_COMPARE_RERUN_H_
#define RHARNESS_HARNESS_JUDGE_COMPARE_RERUN_H_

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"
#include "harness/execution/rerun/workspace.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// Facts in five layers and, for a rerun that was carried out, every declared output and curve; not
// judged yet, and with no metrics but scores of kept items (item_outputs.h): others are decided by
// all reruns of a run together. `ends` has the one
// rerun: with an obstacle it is kNotComparable (with its layer) or kInfra; if it did not succeed,
// or its declared outputs are missing or unreadable, kFailed; if its inputs changed under it,
// kNotComparable. Checkpoints are compared by bytes if the digests differ and the recorded bytes
// were kept; else by digests, with the reason in a note; other outputs by the SHA-256 of their
// bytes (output_files.h). Kept bytes that have changed are also reported in `damage`; if the
// machine cannot read them the rerun is kInfra.
Comparison CompareRerun(const Manifest& manifest, const Evidence& evidence, const Places& places,
                        const std::filesystem::path& drill_folder,
                        std::vector<std::string>* damage);

// Its curves alone: those that the manifest declares, judged by the measured rounding.
std::vector<CurveComparison> CompareRerunCurves(const Manifest& manifest, const Evidence& evidence,
                                                const RoundingRuns& rounding);

// How far a rerun came, and why not further.
RerunEnd EndOf(const Evidence& evidence);

// The unread members of two metrics files, one finding per member: it may pass only if its text is
// equal. Times and memory differ from run to run. `sides` are words such as "in A".
std::vector<Finding> CompareUnread(const UnreadMembers& a, const UnreadMembers& b,
                                   const std::array<std::string_view, 2>& sides);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_COMPARE_RERUN_H_
