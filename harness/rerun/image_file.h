// The image of a run where it is a file: found by the places, proved by its hash, and proved again
// after the run.
#ifndef RHARNESS_HARNESS_RERUN_IMAGE_FILE_H_
#define RHARNESS_HARNESS_RERUN_IMAGE_FILE_H_

#include <filesystem>
#include <optional>

#include "harness/base/result.h"
#include "harness/manifest/manifest.h"
#include "harness/rerun/places.h"
#include "harness/rerun/workspace.h"

namespace rharness {

struct ImageFile {
  std::filesystem::path path;  // absolute, links resolved; empty: it cannot be had
  std::optional<Obstacle> obstacle;
};

// Hashes it, unless the cache knows it. A file that is not there or may not be named is an obstacle
// without a layer; another one than the recorded is one of the environment. Errors: the machine's
// trouble.
Result<ImageFile> ProveImageFile(const Image& image, const Places& places, ContentCache* cache);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RERUN_IMAGE_FILE_H_
