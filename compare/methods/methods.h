// The statistics as a calculator: every method by name, from a JSON object to a JSON object.
//
// Role: behind `rharness stats` and the tests of reference vectors. Nothing is computed here: each
// entry reads its inputs, calls one function of stats or metrics, and names the results. Pure.
#ifndef RHARNESS_COMPARE_METHODS_METHODS_H_
#define RHARNESS_COMPARE_METHODS_METHODS_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/methods/inputs.h"
#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

struct Method {
  std::string name;
  std::string description;  // one line
  std::vector<InputSpec> inputs;
  std::function<Result<Json>(const Inputs&)> run;
  bool may_be_infinite = false;  // an infinity is a valid result
};

// All of them, by name.
const std::vector<Method>& Methods();

// nullptr: no method has this name.
const Method* FindMethod(std::string_view name);

// Up to three names, the nearest by edit distance first.
std::vector<std::string> NearestMethods(std::string_view name);

// The results as one object. not_found for an unknown method, with the nearest names; invalid_input
// for inputs that do not fit or have no answer: no result is ever NaN.
Result<Json> RunMethod(std::string_view name, const Json& inputs);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_METHODS_METHODS_H_
