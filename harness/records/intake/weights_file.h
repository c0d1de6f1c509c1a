// A checkpoint that a source keeps, as manifests record it.
//
// Role: private to this folder; as `rharness record` does it of what a run left.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_WEIGHTS_FILE_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_WEIGHTS_FILE_H_

#include "harness/base/held_folder.h"
#include "harness/base/result.h"
#include "harness/records/manifest/artifact.h"

namespace rharness {

// What is packed may become this many times its size, and no more is read.
inline constexpr std::uint64_t kMostUnpacked = 64;

// Fills sha256 and size_bytes of artifact->path below `folder`; no link is followed.
Status HashArtifact(const HeldFolder& folder, Artifact* artifact);

// Fills tensor_digest, tensors and parts of the checkpoint there, which is hashed already. Nothing
// is executed. Errors: those of OpenCheckpoint and DigestCheckpoint; unsupported also of what was
// packed tighter than kMostUnpacked.
Status ReadWeights(const HeldFolder& folder, Artifact* artifact);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_WEIGHTS_FILE_H_
