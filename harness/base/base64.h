// Base 64 (RFC 4648): written in the standard alphabet, read in either.
#ifndef RHARNESS_HARNESS_BASE_BASE64_H_
#define RHARNESS_HARNESS_BASE_BASE64_H_

#include <optional>
#include <string>
#include <string_view>

namespace rharness {

// The standard alphabet (section 4), padded.
std::string ToBase64Text(std::string_view bytes);

// The standard alphabet or the URL-safe one (section 5), with all of its padding or none of it.
// Empty for anything else: other characters (line breaks, too), both alphabets in one text, padding
// of another length, leftover bits that are not zero. So a text has one meaning.
std::optional<std::string> FromBase64Text(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_BASE64_H_
