// The length by the first byte, then each byte behind it.
#include "harness/base/utf8.h"

#include <array>

namespace rharness {

std::optional<Utf8Character> FirstUtf8(std::string_view text) {
  const unsigned lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return Utf8Character{lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return std::nullopt;
  char32_t code = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const unsigned byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80) return std::nullopt;
    code = (code << 6) | (byte & 0x3FU);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};  // of this length
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kSmallest[bytes] || code > 0x10FFFF || surrogate) return std::nullopt;
  return Utf8Character{code, bytes};
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const auto next = FirstUtf8(text);
    if (!next) return false;
    text.remove_prefix(next->bytes);
  }
  return true;
}

}  // namespace rharness
