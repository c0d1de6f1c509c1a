// A checkpoint file as in a manifest: its canonical digest and one record per tensor.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_TENSOR_RECORDS_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_TENSOR_RECORDS_H_

#include <filesystem>

#include "harness/base/clock.h"
#include "harness/base/held_folder.h"
#include "harness/base/result.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// Fills the digests, tensors and parts of `artifact` from the checkpoint at `path`; leaves the
// rest. Its parts that are loaded with the tensors say which files beside it are measured, if they
// are there. Errors: those of OpenCheckpoint and DigestCheckpoint; unsupported for other formats.
Status ReadTensorRecords(const std::filesystem::path& path, Artifact* artifact);
// The same for a run's output at artifact->path below `folder`: follows no link, not even to a
// shard. Gives up on data that take too long to unpack after `limit` (timeout); 0: ten minutes, and
// one second for every million bytes below `folder`.
Status ReadTensorRecords(const HeldFolder& folder, Artifact* artifact, Seconds limit = Seconds(0));

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_TENSOR_RECORDS_H_
