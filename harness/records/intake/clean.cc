// The checks of untrusted text, one per kind of field.
#include "harness/records/intake/clean.h"

#include <algorithm>
#include <filesystem>

#include "harness/base/files.h"
#include "harness/records/manifest/fields.h"

namespace rharness {
namespace {

bool IsControl(char c) { return (static_cast<unsigned char>(c) < 0x20) || c == 0x7f; }

}  // namespace

std::string CleanName(std::string_view text) {
  std::string name = CleanText(text, 256);
  return IsName(name) ? name : std::string();
}

std::optional<std::string> CleanHex(std::string_view text) {
  std::string hex(text);
  for (char& c : hex) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  }
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  const bool good = !hex.empty() && hex.size() <= 128 && std::ranges::all_of(hex, is_digit);
  return good ? std::optional(hex) : std::nullopt;
}

std::optional<std::string> CleanRelativePath(std::string_view text) {
  const auto path = SafeRelativePath(text, "");
  return path.ok() ? std::optional(path->string()) : std::nullopt;
}

std::optional<std::string> CleanPath(std::string_view text) {
  if (!text.starts_with('/')) return CleanRelativePath(text);
  std::string normal = std::filesystem::path(text).lexically_normal().string();
  while (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  const bool good = normal.size() > 1 && std::ranges::none_of(normal, IsControl) &&
                    TerminalSafe(normal) == normal;
  return good ? std::optional(normal) : std::nullopt;
}

bool IsCleanWord(std::string_view text) {
  return !text.empty() && !text.starts_with('-') &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace rharness
