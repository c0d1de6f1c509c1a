// Arrays of numbers that a parser hands over while it reads, in place of values in memory.
//
// Role: private to this folder; between the parsers of a model's JSON (json_arrays, ubjson) and its
// reader (xgboost_model). What stays in place of an array is [its count], or [] of none.
#ifndef RHARNESS_COMPARE_WEIGHTS_ARRAY_TAKER_H_
#define RHARNESS_COMPARE_WEIGHTS_ARRAY_TAKER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/base/result.h"

namespace rharness {

class ArrayTaker {
 public:
  virtual ~ArrayTaker() = default;
  // An array begins at a path of names, "*" for a position: "/learner/trees/*/parents". True: its
  // elements follow, and go nowhere else.
  virtual bool Begin(std::string_view path) = 0;
  // The next element: a whole number, a real one, or a number's text. False: it does not fit.
  virtual bool Add(std::int64_t value) = 0;
  virtual bool Add(double value) = 0;
  virtual bool Add(std::string_view number) = 0;
  // "'trees/parents': expected numbers of I32"
  virtual std::string Expected() const = 0;
};

// Takes the arrays out of a JSON text in place: each becomes [count] and spaces, so that offsets
// stay. NaN and the infinities are numbers here, as some writers put them. The rest is left to
// ParseJson. Errors: invalid_input with "FILE: byte N" (an element that does not fit), unsupported
// (nesting beyond ParseJson's).
Status TakeArrays(std::string_view file, std::string* text, ArrayTaker* taker);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_WEIGHTS_ARRAY_TAKER_H_
