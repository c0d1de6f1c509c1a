// A stage's metrics, plots and parameters.
//
// Role: private to DVC's importer. Pure.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_DVC_RESULTS_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_DVC_RESULTS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/curves/series.h"
#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

inline constexpr std::size_t kMostDvcValues = 10'000;  // of one file

// JSON or YAML by the file's name. Errors: those of the parsers; unsupported (.toml, .py).
Result<Json> ParseDvcValues(std::string_view text, const std::string& file);

// The values of nested objects by dotted names: {"train": {"lr": 0.1}} is "train.lr". Lists are
// values. At most kMostDvcValues.
std::vector<std::pair<std::string, Json>> FlattenDvcValues(const Json& json);

// The names of values in `recorded` (an object by dotted or nested names) that differ in `file` or
// are missing there: "train.lr (0.2 there, 0.1 recorded)".
std::vector<std::string> DifferingParams(const Json& recorded, const Json& file);

// Curves of .csv, .tsv and .json: a list of objects, or an object that has such a list. `x` names
// the column of steps, if it has an unusual name. Errors: invalid_input, unsupported (another kind
// of file).
Result<std::vector<CurveSeries>> ParseDvcPlot(std::string_view text, const std::string& file,
                                              const std::string& x);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_DVC_RESULTS_H_
