// Universal Binary JSON as a Json value.
//
// Role: private to this folder; under xgboost_model. Pure. Source: ubjson.org, draft 12, types and
// optimised containers; numbers are big-endian. Not here: numbers of any precision ("H").
#ifndef RHARNESS_COMPARE_WEIGHTS_UBJSON_H_
#define RHARNESS_COMPARE_WEIGHTS_UBJSON_H_

#include <string_view>

#include "compare/weights/array_taker.h"
#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

// Limits of this reader, those of ParseJson.
inline constexpr int kMaxUbjsonDepth = 128;
inline constexpr std::size_t kMaxUbjsonValues = std::size_t{1} << 24;

// One value that fills `bytes`, arrays that `taker` wants left to it. Errors: invalid_input with
// "FILE: byte N" (malformed, a name twice in an object, bytes after the value), unsupported (a
// limit above, an unknown type).
Result<Json> ParseUbjson(std::string_view bytes, std::string_view file,
                         ArrayTaker* taker = nullptr);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_UBJSON_H_
