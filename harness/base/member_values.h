// Values of members by their C++ types: texts, numbers, lists, maps, optionals.
//
// Role: under strict_members.h.
#ifndef RHARNESS_HARNESS_BASE_MEMBER_VALUES_H_
#define RHARNESS_HARNESS_BASE_MEMBER_VALUES_H_

#include <concepts>
#include <string>
#include <type_traits>

#include "harness/base/json.h"
#include "harness/base/json_arrays.h"

namespace rharness {

template <class T>
concept IsOptional = requires(T value) {
  value.has_value();
};
template <class T>
concept IsMap = requires(T value) {
  typename T::mapped_type;
};
template <class T>
concept IsList = requires(T value) {
  value.push_back(typename T::value_type());
}
&&!std::same_as<std::remove_const_t<T>, std::string>;

// Whether there is nothing to write: an empty text, list, map or optional, 0, false.
template <class T>
bool SaysNothing(const T& value) {
  if constexpr (IsOptional<T>) {
    return !value.has_value();
  } else if constexpr (requires { value.empty(); }) {
    return value.empty();
  } else {
    return value == T();
  }
}

// What an optional has / the value itself.
template <class T>
const auto& Inner(const T& value) {
  if constexpr (IsOptional<T>) {
    return *value;
  } else {
    return value;
  }
}

template <class T>
Json JsonOf(const T& value) {
  if constexpr (IsMap<T>) {
    Json object = Json::MakeObject();
    for (const auto& [name, one] : value) object.AppendMember(name, Json(one));
    return object;
  } else if constexpr (IsList<T>) {
    return PlainArray(value);
  } else {
    return Json(value);
  }
}

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_MEMBER_VALUES_H_
