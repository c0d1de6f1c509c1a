// The image a manifest pins, checked before it becomes a word on an engine's command line.
#ifndef RHARNESS_HARNESS_LAUNCH_IMAGE_REFERENCE_H_
#define RHARNESS_HARNESS_LAUNCH_IMAGE_REFERENCE_H_

#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/manifest/manifest.h"

namespace rharness {

// "registry/repository@sha256:HEX"; the tag plays no part. Errors: invalid_input unless kind is
// "oci", registry is HOST[:PORT] (letters, digits, '.', '-'), repository is lower-case path
// components as the OCI distribution specification, "Pulling manifests", has them, and the digest
// is sha256 with 64 lower-case hex digits.
Result<std::string> ImageReference(const Image& image);

// "os/architecture" or "os/architecture/variant", or empty. Else invalid_input.
Status CheckPlatform(std::string_view platform);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_LAUNCH_IMAGE_REFERENCE_H_
