// The image of a run if it is a file: found in the declared places, proved by its hash, and proved
// again after the run.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_IMAGE_FILE_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_IMAGE_FILE_H_

#include <filesystem>
#include <optional>
#include <string_view>

#include "harness/base/result.h"
#include "harness/execution/rerun/places.h"
#include "harness/execution/rerun/workspace.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

struct ImageFile {
  std::filesystem::path path;  // absolute, links resolved; empty: not available
  std::optional<Obstacle> obstacle;
};

// Hashes it, unless the cache knows it. A file that is missing or may not be named is an obstacle
// without a layer; one with another hash is an obstacle of the environment. Errors: the machine's
// trouble.
Result<ImageFile> ProveImageFile(const Image& image, const Places& places, ContentCache* cache);

// Whether the text names an image by the path of a file and not in a registry: it begins with "/",
// "./" or "../", or ends with .sif, .sqsh or .squashfs.
bool IsPathOfImage(std::string_view text);

// For a record: completes an image with a location, relative to the current folder, and perhaps a
// digest, with its kind by its content (source: the SIF format's global header, "SIF_MAGIC" behind
// 32 bytes; squashfs's superblock, "hsqs"), and its digest. A run in a container may not see its
// own image: if the file is missing, a stated digest and a known file ending are accepted. Errors:
// invalid_input (neither kind, another digest than stated), not_found, io.
Result<Image> CaptureImageFile(const Image& stated);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_IMAGE_FILE_H_
