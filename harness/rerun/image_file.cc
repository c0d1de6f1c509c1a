// Holds a file to the digest that a manifest pins.
#include "harness/rerun/image_file.h"

#include <fmt/format.h>

#include <system_error>

#include "harness/base/files.h"
#include "harness/base/trouble.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

ImageFile NoImageFile(std::string layer, std::string reason) {
  return {.path = {}, .obstacle = Obstacle{std::move(layer), std::move(reason)}};
}

}  // namespace

Result<ImageFile> ProveImageFile(const Image& image, const Places& places, ContentCache* cache) {
  const std::string name = fmt::format("image '{}'", TerminalSafe(image.location));
  const auto refuse = [&name](const Error& error) -> Result<ImageFile> {
    if (IsTrouble(error)) return error;
    return NoImageFile("", fmt::format("{}: {}", name, error.ToString()));
  };
  const auto source = Locate(places, image.location);
  if (!source.ok()) return refuse(source.error());
  std::error_code error;
  const fs::path path = fs::canonical(*source, error);
  if (error) return refuse(PathError("cannot be reached", error.value(), *source));
  if (!fs::is_regular_file(path, error)) {
    return NoImageFile("", fmt::format("{}: {} is no file", name, path.string()));
  }
  const auto content = cache->Hash(path);
  if (!content.ok()) return refuse(content.error());
  const std::string digest = "sha256:" + content->sha256;
  if (digest == image.digest) return ImageFile{.path = path, .obstacle = {}};
  return NoImageFile("environment",
                     fmt::format("{} is not the recorded one: {} ({} bytes), recorded {}", name,
                                 digest, content->size_bytes, image.digest));
}

}  // namespace rharness
