// What a run logged to Weights & Biases: its history and its summary, from its transaction log.
//
// Role: the one reader of these, for logs of a run (tracker_log.h) and for the import of whole runs
// (harness/records/intake). Pure. Not here: the log's frames (wandb_log.h).
#ifndef RHARNESS_COMPARE_CURVES_WANDB_METRICS_H_
#define RHARNESS_COMPARE_CURVES_WANDB_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/json.h"

namespace rharness {

inline constexpr std::size_t kMostWandbPoints = 1'000'000;  // of one run; further ones are a remark

struct WandbCurve {  // points as they were logged
  std::vector<std::int64_t> steps;
  std::vector<double> values;
};

// Without names that begin with '_', which are W&B's own: step, time and runtime.
struct WandbMetrics {
  std::map<std::string, Json> summary;  // W&B's summary of each metric
  std::map<std::string, WandbCurve> history;
  std::size_t points = 0;
  std::size_t other_values = 0;  // of the history: texts, pictures, tables
  WallTime last_seen{};          // of the last logged values
};

// Adds what one record of the transaction log says of them; returns whether it could be read. Skips
// all else.
bool AddWandbMetrics(std::string_view record, WandbMetrics* metrics);

// Of a ConfigRecord or SummaryRecord: {update 1, remove 2}; returns whether it could be read.
bool AddWandbValues(std::string_view message, std::map<std::string, Json>* values);

// f(name, value) of each value that is no object; names of objects are joined by '.'.
template <class F>
void ForWandbLeaves(const std::string& name, const Json& value, F f, int levels = 16) {
  if (!value.IsObject() || levels == 0 || value.AsObject().empty()) return f(name, value);
  for (const auto& [part, inner] : value.AsObject()) {
    ForWandbLeaves(name + "." + part, inner, f, levels - 1);
  }
}

// The summary's numbers by name.
std::map<std::string, double> WandbSummaryNumbers(const WandbMetrics& metrics);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_WANDB_METRICS_H_
