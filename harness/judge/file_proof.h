// Whether a file with the recorded SHA-256 holds the tensors that were compared.
//
// Role: what is signed or admitted is named by the SHA-256 of its file, and what is compared are
// tensors. One ties the other where a rerun wrote the same files, or where the recorded ones are
// still there. Reads and hashes those.
#ifndef RHARNESS_HARNESS_JUDGE_FILE_PROOF_H_
#define RHARNESS_HARNESS_JUDGE_FILE_PROOF_H_

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.h"
#include "harness/base/result.h"
#include "harness/execution/rerun/places.h"
#include "harness/records/manifest/artifact.h"
#include "harness/verdict/verdict.h"

namespace rharness {

// Code of a finding that decides nothing; its subject is the path of a recorded checkpoint.
inline constexpr char kFileUnproven[] = "file_unproven";

// Byte for byte, with every part; a record may be older than the list of its parts.
bool HasSameFiles(const Artifact& recorded, const Artifact& seen);

// Whether the checkpoint at `place` has the recorded tensors. Errors: integrity for others, those
// of OpenCheckpoint and DigestCheckpoint.
Status HoldTensorsAt(const Artifact& recorded, const std::filesystem::path& place);

// Whether a rerun's checkpoint is these files, each with its content: the record names every file
// with tensors that the rerun wrote, and no other.
bool IsWrittenAs(const Artifact& recorded, const Artifact& seen);

// For a checkpoint that no rerun wrote so: looks at the recorded files where they are kept. None:
// these have the recorded SHA-256 and tensors. `seen`: that of the rerun, which has its parts. A
// file that has the recorded SHA-256 and other tensors is also reported in `damage`. Errors: the
// machine's trouble.
Result<std::optional<Finding>> FindUnproven(const Artifact& recorded, const Artifact& seen,
                                            const Places& places, std::vector<std::string>* damage);

// Leaves, of these findings of several reruns, what every rerun that was compared has: one that
// wrote the recorded files proves them.
void KeepUnproven(const std::vector<Comparison>& reruns, std::vector<Finding>* findings);

// The paths of these checkpoints.
std::vector<std::string> UnprovenIn(const std::vector<Finding>& findings);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_FILE_PROOF_H_
