// Holds a file to the digest that a manifest pins.
#include "harness/execution/rerun/image_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include "harness/base/descriptor.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"
#include "harness/execution/launch/image_reference.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

ImageFile NoImageFile(std::optional<Layer> layer, std::string reason) {
  return {.path = {}, .obstacle = Obstacle{layer, std::move(reason)}};
}

constexpr std::string_view kPrefix = "sha256:";

std::optional<ImageKind> KindByEnding(std::string_view path) {
  if (path.ends_with(".sif")) return ImageKind::kSif;
  const bool squashfs = path.ends_with(".sqsh") || path.ends_with(".squashfs");
  return squashfs ? std::optional(ImageKind::kSquashfs) : std::nullopt;
}

Result<std::optional<ImageKind>> KindByContent(const fs::path& path) {
  constexpr std::size_t kSifMagicAt = 32;
  constexpr std::string_view kSifMagic = "SIF_MAGIC", kSquashfsMagic = "hsqs";
  ASSIGN_OR_RETURN(const OpenedFile file, OpenRegularFile(path));
  std::array<char, kSifMagicAt + kSifMagic.size()> begin{};
  const ssize_t size = ::pread(file.descriptor.get(), begin.data(), begin.size(), 0);
  if (size < 0) return PathError("cannot be read", errno, path);
  const std::string_view text(begin.data(), static_cast<std::size_t>(size));
  if (text.starts_with(kSquashfsMagic)) return std::optional(ImageKind::kSquashfs);
  return text.ends_with(kSifMagic) ? std::optional(ImageKind::kSif) : std::nullopt;
}

}  // namespace

bool IsPathOfImage(std::string_view text) {
  return text.starts_with("/") || text.starts_with("./") || text.starts_with("../") ||
         KindByEnding(text).has_value();
}

Result<Image> CaptureImageFile(const Image& stated) {
  Image image = stated;
  std::error_code error;
  if (!stated.digest.empty() && !fs::exists(stated.location, error)) {
    const std::optional<ImageKind> kind = KindByEnding(stated.location);
    if (!kind) {
      return InvalidInput(
          "the image's file is not here, and its name does not say what it is; expected one that "
          "ends with .sif, .sqsh or .squashfs",
          stated.location);
    }
    image.kind = *kind;
    RETURN_IF_ERROR(CheckImageFile(image, image.kind));
    return image;
  }
  ASSIGN_OR_RETURN(const std::optional<ImageKind> kind, KindByContent(stated.location));
  if (!kind) {
    return InvalidInput("is no image: neither a SIF nor a squashfs", stated.location);
  }
  image.kind = *kind;
  ASSIGN_OR_RETURN(const FileDigest digest, HashFile(stated.location));
  image.digest = std::string(kPrefix) + digest.sha256;
  if (stated.digest.empty() || stated.digest == image.digest) return image;
  return InvalidInput(fmt::format("the image's file differs from the stated one: {}, stated {}",
                                  image.digest, stated.digest),
                      stated.location);
}

Result<ImageFile> ProveImageFile(const Image& image, const Places& places, ContentCache* cache) {
  const std::string name = fmt::format("image '{}'", TerminalSafe(image.location));
  const auto refuse = [&name](const Error& error) -> Result<ImageFile> {
    if (IsTrouble(error)) return error;
    return NoImageFile({}, fmt::format("{}: {}", name, error.ToString()));
  };
  const auto source = Locate(places, image.location);
  if (!source.ok()) return refuse(source.error());
  std::error_code error;
  const fs::path path = fs::canonical(*source, error);
  if (error) return refuse(PathError("cannot be reached", error.value(), *source));
  if (!fs::is_regular_file(path, error)) {
    return NoImageFile({}, fmt::format("{}: {} is no file", name, path.string()));
  }
  const auto content = cache->Hash(path);
  if (!content.ok()) return refuse(content.error());
  const std::string digest = std::string(kPrefix) + content->sha256;
  if (digest == image.digest) return ImageFile{.path = path, .obstacle = {}};
  return NoImageFile(Layer::kEnvironment,
                     fmt::format("{} is not the recorded one: {} ({} bytes), recorded {}", name,
                                 digest, content->size_bytes, image.digest));
}

}  // namespace rharness
