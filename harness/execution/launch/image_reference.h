// The image a manifest pins, checked before it becomes a word on an engine's command line.
#ifndef RHARNESS_HARNESS_EXECUTION_LAUNCH_IMAGE_REFERENCE_H_
#define RHARNESS_HARNESS_EXECUTION_LAUNCH_IMAGE_REFERENCE_H_

#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// "registry/repository@sha256:HEX", a short name completed (image_name.h); the tag is ignored.
// Errors: invalid_input unless kind is "oci", registry is HOST[:PORT] (letters, digits, '.', '-'),
// repository is lower-case path components as in the OCI distribution specification, "Pulling
// manifests", and the digest is sha256 with 64 lower-case hex digits.
Result<std::string> ImageReference(const Image& recorded);

// Whether it is a file ("sif", "squashfs"), pinned by its own hash, and not in a registry.
bool IsImageFile(const Image& image);
// Errors: invalid_input unless it is of this kind, names a location and a digest as above.
Status CheckImageFile(const Image& image, ImageKind kind);

// "os/architecture" or "os/architecture/variant", or empty. Else invalid_input.
Status CheckPlatform(std::string_view platform);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_LAUNCH_IMAGE_REFERENCE_H_
