// Splitting the name of an image.
#include "harness/manifest/image_name.h"

namespace rharness {

void SplitImageName(std::string_view name, Image* image) {
  if (const auto slash = name.find('/'); slash != name.npos) {
    const std::string_view first = name.substr(0, slash);
    if (first == "localhost" || first.find_first_of(".:") != first.npos) {
      image->registry = first;
      name.remove_prefix(slash + 1);
    }
  }
  const auto colon = name.rfind(':');
  if (colon != name.npos) image->tag = name.substr(colon + 1);
  image->repository = name.substr(0, colon);
}

}  // namespace rharness
