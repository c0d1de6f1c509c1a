// What a run logged to MLflow: its metrics by name, from lines of the file store and rows of
// tables.
//
// Role: the one reader of these, for logs of a run (tracker_log.h) and for the import of whole runs
// (harness/records/intake). Sources: mlflow/store/tracking/file_store.py,
// mlflow/store/tracking/dbmodels/models.py of MLflow 3.
#ifndef RHARNESS_COMPARE_CURVES_MLFLOW_METRICS_H_
#define RHARNESS_COMPARE_CURVES_MLFLOW_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/base/sqlite_file.h"

namespace rharness {

struct MlflowPoint {
  std::int64_t timestamp_ms = 0;
  std::int64_t step = 0;
  double value = 0.0;
};
using MlflowMetrics = std::map<std::string, std::vector<MlflowPoint>>;

inline constexpr std::size_t kMostMlflowPoints = 1'000'000;  // of one run; more are a remark
inline constexpr std::uint64_t kMostMlflowMetricBytes = std::uint64_t{256} << 20;  // of a file

// A metric of a machine's load ("system/...") or a drill ("rharness..."), not of the training:
// neither read nor compared.
bool IsMlflowSystemMetric(std::string_view name);

// A line of a metric's file in a folder: "TIMESTAMP VALUE [STEP [DATASET DIGEST]]", without a step
// step 0; `set` gets the data set's name and digest. Errors: invalid_input with `where`.
Result<MlflowPoint> ParseMlflowMetricLine(std::string_view line, std::string_view where,
                                          std::pair<std::string, std::string>* set = nullptr);

// The points of a metric's file. A line that is none is a remark with its number. `points` counts
// those of the run; the ones beyond kMostMlflowPoints are left out with a remark. take_set(set)
// gets the data set of each point, if that is asked for.
std::vector<MlflowPoint> ParseMlflowMetricFile(
    std::string_view text, std::size_t* points, const std::function<void(std::string)>& remark,
    const std::function<void(std::pair<std::string, std::string>)>& take_set = {});

// Whether it has the tables of MLflow's server.
bool IsMlflowTables(const SqliteFile& database);
// The metrics of a run; a system metric is there without points. Errors: those of SqliteFile.
Status ReadMlflowMetricRows(const SqliteFile& database, const std::string& run,
                            MlflowMetrics* metrics, const std::function<void(std::string)>& remark);

// Puts points into the order in which the last one is the metric's value: by step, time and value.
// Several points of step 0 alone were logged without a step, as before MLflow 1.0 all were; they
// are counted then. Databases keep the largest number in place of an infinity; it becomes one.
struct MlflowOrder {
  bool counted = false;
  bool infinities = false;
};
MlflowOrder OrderMlflowPoints(std::vector<MlflowPoint>* points);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_MLFLOW_METRICS_H_
