// How to run each method of the reference vectors: inputs as JSON in, results as JSON out.
#ifndef RHARNESS_TESTS_COMPARE_METRICS_VECTORS_METHODS_H_
#define RHARNESS_TESTS_COMPARE_METRICS_VECTORS_METHODS_H_

#include <functional>
#include <map>
#include <string>

#include "harness/base/json.h"

namespace rharness {

using VectorMethod = std::function<Json(const Json& inputs)>;

// By method name. The results may hold more members than a vector expects.
const std::map<std::string, VectorMethod>& VectorMethods();

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_METRICS_VECTORS_METHODS_H_
