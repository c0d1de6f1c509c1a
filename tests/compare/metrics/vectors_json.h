// Reading the inputs of a reference vector and writing its results.
#ifndef RHARNESS_TESTS_COMPARE_METRICS_VECTORS_JSON_H_
#define RHARNESS_TESTS_COMPARE_METRICS_VECTORS_JSON_H_

#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/json.h"
#include "tests/compare/metrics/vectors_methods.h"

namespace rharness {

inline double Num(const Json& in, std::string_view key) {
  const Json* member = in.Find(key);
  return member == nullptr ? std::nan("") : member->ToDouble().value_or(std::nan(""));
}

inline int Int(const Json& in, std::string_view key) { return static_cast<int>(Num(in, key)); }

inline std::vector<double> List(const Json& in, std::string_view key) {
  std::vector<double> values;
  const Json& member = *in.Find(key);
  if (member.IsArray()) {
    for (const Json& value : member.AsArray()) values.push_back(value.ToDouble().value());
    return values;
  }
  values.push_back(Num(member, "first"));
  const std::vector<double> pair = List(member, "pairs");
  for (int i = 0; i < Int(member, "npairs"); ++i) {
    values.insert(values.end(), pair.begin(), pair.end());
  }
  return values;
}

inline Json Numbers(const std::vector<double>& values) {
  Json array = Json::MakeArray();
  for (double value : values) array.Append(value);
  return array;
}

inline Json Object(std::vector<std::pair<std::string, Json>> members) {
  return Json::MakeObject(std::move(members));
}

// A function of numbers alone: result name, function, names of its arguments in order.
template <class... Args>
VectorMethod Scalar(std::string result, double (*function)(Args...),
                    std::array<std::string, sizeof...(Args)> names) {
  return [=](const Json& in) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Object({{result, function(Num(in, names[I])...)}});
    }
    (std::index_sequence_for<Args...>());
  };
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_METRICS_VECTORS_JSON_H_
