// A checkpoint file as a manifest records it: its canonical digest and one record a tensor.
#ifndef RHARNESS_HARNESS_DRILL_TENSOR_RECORDS_H_
#define RHARNESS_HARNESS_DRILL_TENSOR_RECORDS_H_

#include <filesystem>

#include "harness/base/held_folder.h"
#include "harness/base/result.h"
#include "harness/manifest/manifest.h"

namespace rharness {

// Fills tensor_digest and tensors of `artifact` from the checkpoint at `path`; leaves the rest.
// Errors: those of OpenCheckpoint and DigestCheckpoint; unsupported for other formats.
Status ReadTensorRecords(const std::filesystem::path& path, Artifact* artifact);
// That of a run's output at artifact->path below `folder`: no link is followed, not even to a
// shard.
Status ReadTensorRecords(const HeldFolder& folder, Artifact* artifact);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_TENSOR_RECORDS_H_
