// Percent-encoding: "a b" as "a%20b". Source: RFC 3986, section 2.1.
#ifndef RHARNESS_HARNESS_BASE_PERCENT_H_
#define RHARNESS_HARNESS_BASE_PERCENT_H_

#include <optional>
#include <string>
#include <string_view>

namespace rharness {

// Each "%" and two hex digits as their byte. None where a "%" has no such digits behind it.
std::optional<std::string> PercentDecoded(std::string_view text);

// The same; a "%" without such digits stays as it is, as in a path that nobody encoded.
std::string PercentDecodedWhereEncoded(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_PERCENT_H_
