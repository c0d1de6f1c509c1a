// The place of a run: a container image pinned by digest, or the host.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_IMAGE_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_IMAGE_H_

#include <string>
#include <vector>

#include "harness/base/member_facts.h"

namespace rharness {

// No image; from a registry; a file of Apptainer's, of enroot's.
enum class ImageKind { kHost, kOci, kSif, kSquashfs };
inline constexpr NameTable<ImageKind, 4> kImageKindNames = {{{ImageKind::kHost, "host"},
                                                             {ImageKind::kOci, "oci"},
                                                             {ImageKind::kSif, "sif"},
                                                             {ImageKind::kSquashfs, "squashfs"}}};

// The place of the run: a container image pinned by digest, or the host environment.
struct Image {
  ImageKind kind = ImageKind::kHost;
  std::string registry;             // "registry.example.org:5000"
  std::string repository;           // "ml/train"
  std::string tag;                  // informative only
  std::string location;             // of a file: a path (relative ones below --root)
  std::string digest;               // "sha256:" and 64 hex digits: of a manifest, or of the file
  std::string platform;             // "linux/amd64"
  std::string packages_sha256;      // of the host's package list
  std::vector<std::string> layers;  // RootFS, the lowest first, if an engine knew the image
  std::string base_name;            // label org.opencontainers.image.base.name
  std::string base_digest;          // label org.opencontainers.image.base.digest
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_IMAGE_H_
