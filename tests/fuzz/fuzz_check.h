// What targets share: a requirement that holds or ends the run, and what every error must say.
//
// Role: for all targets. Inputs that are files lie in fuzz_file.h.
#ifndef RHARNESS_TESTS_FUZZ_FUZZ_CHECK_H_
#define RHARNESS_TESTS_FUZZ_FUZZ_CHECK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

inline void Require(bool holds) {
  if (!holds) std::abort();
}

inline std::string_view TextOf(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// The error is one of those that the reader promises, and says what is wrong and where.
inline void RequireError(const Error& error, std::initializer_list<ErrorCode> codes,
                         std::string_view where) {
  Require(std::ranges::find(codes, error.code) != codes.end());
  Require(error.where.starts_with(where) && !error.message.empty());
}

// What is written is read back as the same value.
inline void RequireReadable(const Json& json) {
  for (const int indent : {-1, 2}) {
    const auto again = ParseJson(json.Dump(indent), "written");
    Require(again.ok() && again->Dump() == json.Dump());
  }
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_FUZZ_FUZZ_CHECK_H_
