// A checkpoint file as a manifest records it: its canonical digest and one record a tensor.
#ifndef RHARNESS_HARNESS_DRILL_TENSOR_RECORDS_H_
#define RHARNESS_HARNESS_DRILL_TENSOR_RECORDS_H_

#include <filesystem>

#include "harness/base/result.h"
#include "harness/manifest/manifest.h"

namespace rharness {

// Fills tensor_digest and tensors of `artifact` from the checkpoint at `path`; leaves the rest.
// Errors: those of OpenCheckpoint and DigestCheckpoint; unsupported for other formats.
Status ReadTensorRecords(const std::filesystem::path& path, Artifact* artifact);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_TENSOR_RECORDS_H_
