// Small hand-written matchers: text of an untrusted manifest matches completely or is refused.
#include "harness/execution/launch/image_reference.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/files.h"
#include "harness/records/manifest/image_name.h"

namespace rharness {
namespace {

constexpr std::size_t kLongestName = 255;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsAlphanumeric(char c) { return IsDigit(c) || IsLower(c) || (c >= 'A' && c <= 'Z'); }
bool IsLowerAlphanumeric(char c) { return IsDigit(c) || IsLower(c); }

// Calls `accept` on every part of `text` between `separator`s; false as soon as one is refused.
template <class F>
bool AllParts(std::string_view text, char separator, F&& accept) {
  for (;;) {
    const std::size_t end = text.find(separator);
    if (!accept(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

bool IsHostLabel(std::string_view label) {
  return !label.empty() && IsAlphanumeric(label.front()) && IsAlphanumeric(label.back()) &&
         std::all_of(label.begin(), label.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '-'; });
}

bool IsRegistry(std::string_view registry) {
  const std::size_t colon = registry.find(':');
  const std::string_view port = colon == std::string_view::npos ? "0" : registry.substr(colon + 1);
  return registry.size() <= kLongestName && !port.empty() && port.size() <= 5 &&
         std::all_of(port.begin(), port.end(), IsDigit) &&
         AllParts(registry.substr(0, colon), '.', IsHostLabel);
}

// Lower-case letters and digits, joined by one '.', one or two '_', or any number of '-'.
bool IsPathComponent(std::string_view component) {
  if (component.empty() || !IsLowerAlphanumeric(component.front()) ||
      !IsLowerAlphanumeric(component.back())) {
    return false;
  }
  for (std::size_t at = 0; at < component.size();) {
    const char c = component[at];
    const std::size_t end = std::min(component.find_first_not_of(c, at), component.size());
    const std::size_t run = end - at;
    const bool allowed =
        IsLowerAlphanumeric(c) || c == '-' || (c == '.' && run == 1) || (c == '_' && run <= 2);
    // Two different separators never meet.
    if (!allowed || (!IsLowerAlphanumeric(c) && !IsLowerAlphanumeric(component[end]))) return false;
    at = end;
  }
  return true;
}

bool IsPinnedDigest(std::string_view digest) {
  constexpr std::string_view kPrefix = "sha256:";
  if (digest.substr(0, kPrefix.size()) != kPrefix) return false;
  digest.remove_prefix(kPrefix.size());
  return digest.size() == 64 && std::all_of(digest.begin(), digest.end(), [](char c) {
           return IsDigit(c) || (c >= 'a' && c <= 'f');
         });
}

Error Refuse(std::string_view what, std::string_view value, std::string_view expected) {
  return InvalidInput(
      fmt::format("image {} '{}': expected {}", what, TerminalSafe(value), expected));
}

}  // namespace

Result<std::string> ImageReference(const Image& recorded) {
  Image image = recorded;
  CompleteImageName(&image);
  if (image.kind != ImageKind::kOci)
    return Refuse("kind", NameIn(kImageKindNames, image.kind), "'oci' for a container engine");
  if (!IsRegistry(image.registry)) return Refuse("registry", image.registry, "HOST or HOST:PORT");
  if (image.repository.size() > kLongestName || !AllParts(image.repository, '/', IsPathComponent)) {
    return Refuse("repository", image.repository,
                  "lower-case names joined by '/', such as 'ml/train'");
  }
  if (!IsPinnedDigest(image.digest)) {
    return Refuse("digest", image.digest, "'sha256:' and 64 lower-case hex digits");
  }
  return fmt::format("{}/{}@{}", image.registry, image.repository, image.digest);
}

bool IsImageFile(const Image& image) {
  return image.kind == ImageKind::kSif || image.kind == ImageKind::kSquashfs;
}

Status CheckImageFile(const Image& image, ImageKind kind) {
  if (image.kind != kind) {
    return Refuse("kind", NameIn(kImageKindNames, image.kind),
                  fmt::format("'{}'", NameIn(kImageKindNames, kind)));
  }
  if (image.location.empty()) return Refuse("location", image.location, "the path of its file");
  if (IsPinnedDigest(image.digest)) return {};
  return Refuse("digest", image.digest, "'sha256:' and 64 lower-case hex digits");
}

Status CheckPlatform(std::string_view platform) {
  int parts = 0;
  const bool well_formed = AllParts(platform, '/', [&parts](std::string_view part) {
    ++parts;
    return !part.empty() && std::all_of(part.begin(), part.end(),
                                        [](char c) { return IsLowerAlphanumeric(c) || c == '_'; });
  });
  if (platform.empty() || (well_formed && (parts == 2 || parts == 3))) return {};
  return Refuse("platform", platform, "'os/architecture', such as 'linux/amd64'");
}

}  // namespace rharness
