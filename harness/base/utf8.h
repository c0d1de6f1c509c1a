// UTF-8 as it is well formed: no overlong forms, no surrogates, nothing above U+10FFFF.
// Source: RFC 3629; Unicode 15, table 3-7.
#ifndef RHARNESS_HARNESS_BASE_UTF8_H_
#define RHARNESS_HARNESS_BASE_UTF8_H_

#include <cstddef>
#include <optional>
#include <string_view>

namespace rharness {

struct Utf8Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // 1 to 4
};

// The first character of a text that is not empty; none where its bytes are not well formed.
std::optional<Utf8Character> FirstUtf8(std::string_view text);

bool IsUtf8(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_UTF8_H_
