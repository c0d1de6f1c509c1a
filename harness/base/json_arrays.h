// JSON arrays of a list of values.
#ifndef RHARNESS_HARNESS_BASE_JSON_ARRAYS_H_
#define RHARNESS_HARNESS_BASE_JSON_ARRAYS_H_

#include <utility>
#include <vector>

#include "harness/base/json.h"

namespace rharness {

template <class T, class F>
Json ArrayOf(const T& values, F to_json) {
  Json::Array array;
  array.reserve(values.size());
  for (const auto& value : values) array.push_back(to_json(value));
  return Json::MakeArray(std::move(array));
}

template <class T>
Json PlainArray(const std::vector<T>& values) {
  return ArrayOf(values, [](const T& value) { return Json(value); });
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_JSON_ARRAYS_H_
