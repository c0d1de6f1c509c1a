// Control characters and broken UTF-8 out of a text; see clean_text.h.
#include "harness/base/clean_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/json.h"

namespace rharness {
namespace {

bool IsControl(char c) { return (static_cast<unsigned char>(c) < 0x20) || c == 0x7f; }

// Bytes 0x80 to 0xBF continue a character of UTF-8.
bool Continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Json's writer replaces invalid UTF-8 by U+FFFD.
std::string ValidUtf8(std::string_view text) {
  auto json = ParseJson(Json(std::string(text)).Dump(), "");
  return json.ok() ? json->AsString() : std::string();
}

}  // namespace

std::string CleanText(std::string_view text, std::size_t most) {
  // Nearly all there is.
  if (std::ranges::all_of(text.substr(0, most), [](char c) { return c >= ' ' && c < 0x7f; })) {
    return std::string(text.substr(0, most));
  }
  std::string clean = ValidUtf8(text.substr(0, most));
  std::erase_if(clean, IsControl);
  if (clean.size() > most) {
    std::size_t end = most;
    while (end > 0 && Continues(clean[end])) --end;
    clean.resize(end);
  }
  return clean;
}

std::string QuotedShort(std::string_view text) {
  return fmt::format("'{}{}'", CleanText(text, 60), text.size() > 60 ? "..." : "");
}

std::string LastLine(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \r\n\t") + 1);
  return CleanText(text.substr(text.rfind('\n') + 1), 200);
}

}  // namespace rharness
