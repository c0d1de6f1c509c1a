// One pass over the text; what is no escape stays.
#include "harness/base/percent.h"

#include <charconv>

namespace rharness {
namespace {

// Of "%20" at the beginning of `text`; none: it does not begin so.
std::optional<char> EscapeAt(std::string_view text) {
  unsigned byte = 0;
  const char* digits = text.data() + 1;
  if (text.size() < 3 || text[0] != '%' ||
      std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) {
    return std::nullopt;
  }
  return static_cast<char>(byte);
}

std::string Decode(std::string_view text, bool* whole) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = EscapeAt(text.substr(i));
    *whole &= byte.has_value() || text[i] != '%';
    decoded += byte.value_or(text[i]);
    if (byte) i += 2;
  }
  return decoded;
}

}  // namespace

std::optional<std::string> PercentDecoded(std::string_view text) {
  bool whole = true;
  std::string decoded = Decode(text, &whole);
  if (!whole) return std::nullopt;
  return decoded;
}

std::string PercentDecodedWhereEncoded(std::string_view text) {
  bool whole = true;
  return Decode(text, &whole);
}

}  // namespace rharness
