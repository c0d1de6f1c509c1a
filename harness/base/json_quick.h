// The quick way through a JSON document, for all that are in order.
//
// Role: what ParseJson tries first. Not here: why a document is refused, which the careful way in
// json.cc finds out.
#ifndef RHARNESS_HARNESS_BASE_JSON_QUICK_H_
#define RHARNESS_HARNESS_BASE_JSON_QUICK_H_

#include <optional>
#include <string_view>

#include "harness/base/json.h"

namespace rharness {

// What both ways refuse: deeper nesting, more values.
inline constexpr std::size_t kMaxJsonDepth = 128;
inline constexpr std::size_t kMaxJsonValues = std::size_t{1} << 24;  // about 0.7 GB of Json

// What ParseJson returns, where it returns a value that this way can make; else nothing, which says
// nothing about the document: integers beyond 64 bits, doubles that round to zero, escaped pairs of
// surrogates and a byte order mark are left to the careful way, too. No NUL in `text`.
std::optional<Json> ParseJsonQuickly(std::string_view text);

// ParseJson without it: slower, and with the reason where it refuses. In json.cc.
Result<Json> ParseJsonCarefully(std::string_view text, std::string_view file);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_JSON_QUICK_H_
