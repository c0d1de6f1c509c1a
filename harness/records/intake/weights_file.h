// A checkpoint of a source, recorded as in manifests.
//
// Role: private to this folder; as `rharness record` does for the outputs of a run.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_WEIGHTS_FILE_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_WEIGHTS_FILE_H_

#include "harness/base/held_folder.h"
#include "harness/base/result.h"
#include "harness/records/manifest/artifact.h"

namespace rharness {

// Packed data may expand to this many times its size; no more is read.
inline constexpr std::uint64_t kMostUnpacked = 64;

// Fills sha256 and size_bytes of artifact->path below `folder`; follows no link.
Status HashArtifact(const HeldFolder& folder, Artifact* artifact);

// Fills tensor_digest, tensors and parts of the checkpoint, which is already hashed. Executes
// nothing.
// Errors: those of OpenCheckpoint and DigestCheckpoint; unsupported also for data packed tighter
// than kMostUnpacked.
Status ReadWeights(const HeldFolder& folder, Artifact* artifact);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_WEIGHTS_FILE_H_
