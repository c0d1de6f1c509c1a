// The fast parser for valid JSON documents.
//
// Role: ParseJson tries it first. Not here: the reason for a refusal, which the careful parser in
// json.cc finds.
#ifndef RHARNESS_HARNESS_BASE_JSON_QUICK_H_
#define RHARNESS_HARNESS_BASE_JSON_QUICK_H_

#include <optional>
#include <string_view>

#include "harness/base/json.h"

namespace rharness {

// Both parsers refuse deeper nesting and more values.
inline constexpr std::size_t kMaxJsonDepth = 128;
inline constexpr std::size_t kMaxJsonValues = std::size_t{1} << 24;  // about 0.7 GB of Json

// The result of ParseJson, if it is a value that this parser can make; else nothing, which says
// nothing about the document: the careful parser also handles integers beyond 64 bits, doubles that
// round to zero, escaped surrogate pairs and a byte order mark. No NUL in `text`.
std::optional<Json> ParseJsonQuickly(std::string_view text);

// ParseJson without the fast parser: slower, and with the reason of a refusal. In json.cc.
Result<Json> ParseJsonCarefully(std::string_view text, std::string_view file);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_JSON_QUICK_H_
