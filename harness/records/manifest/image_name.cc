// Splitting the name of an image.
#include "harness/records/manifest/image_name.h"

#include <algorithm>

namespace rharness {
namespace {

constexpr char kDockerHub[] = "docker.io";

bool IsRegistryName(std::string_view first) {
  return first == "localhost" || first.find_first_of(".:") != first.npos ||
         std::ranges::any_of(first, [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

void CompleteImageName(Image* image) {
  if (image->kind != ImageKind::kOci || image->repository.empty()) return;
  if (image->registry.empty() || image->registry == "index.docker.io") image->registry = kDockerHub;
  if (image->registry == kDockerHub && image->repository.find('/') == std::string::npos) {
    image->repository.insert(0, "library/");
  }
}

void SplitImageName(std::string_view name, Image* image) {
  if (const auto slash = name.find('/'); slash != name.npos) {
    const std::string_view first = name.substr(0, slash);
    if (IsRegistryName(first)) {
      image->registry = first;
      name.remove_prefix(slash + 1);
    }
  }
  const auto colon = name.rfind(':');
  if (colon != name.npos) image->tag = name.substr(colon + 1);
  image->repository = name.substr(0, colon);
  CompleteImageName(image);
}

}  // namespace rharness
