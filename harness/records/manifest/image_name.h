// The name of an image in a registry, as engines write it.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_IMAGE_NAME_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_IMAGE_NAME_H_

#include <string_view>

#include "harness/records/manifest/manifest.h"

namespace rharness {

// "[REGISTRY/]REPOSITORY[:TAG]" into the image's three members, completed; the first part is a
// registry when it has a '.', a ':' or an upper-case letter or is "localhost". It stays empty if
// the name has no repository. Source: distribution/reference, "normalize".
void SplitImageName(std::string_view name, Image* image);

// The parts that engines add to a short name: "train" is docker.io/library/train, "lab/train" is
// docker.io/lab/train. Changes no image of another kind or without a repository.
void CompleteImageName(Image* image);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_IMAGE_NAME_H_
