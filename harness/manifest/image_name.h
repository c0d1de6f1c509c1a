// The name of an image in a registry, as engines write it.
#ifndef RHARNESS_HARNESS_MANIFEST_IMAGE_NAME_H_
#define RHARNESS_HARNESS_MANIFEST_IMAGE_NAME_H_

#include <string_view>

#include "harness/manifest/manifest.h"

namespace rharness {

// "[REGISTRY/]REPOSITORY[:TAG]" into the image's three members; the first part is a registry when
// it has a '.' or a ':' or is "localhost". A name without a repository leaves that empty.
// Source: distribution/reference, "normalize".
void SplitImageName(std::string_view name, Image* image);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_MANIFEST_IMAGE_NAME_H_
