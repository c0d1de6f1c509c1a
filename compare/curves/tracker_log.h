// What one run logged to an experiment tracker on its own machine, as curves.
//
// Role: reads MLflow's local stores and W&B's offline log as a log of one run; several runs in one
// place are an error that names them. Not here: everything else that trackers keep of a run
// (harness/records/intake).
#ifndef RHARNESS_COMPARE_CURVES_TRACKER_LOG_H_
#define RHARNESS_COMPARE_CURVES_TRACKER_LOG_H_

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/curves/series.h"
#include "harness/base/result.h"

namespace rharness {

struct TrackerLog {
  std::vector<CurveSeries> curves;        // some have one value
  std::map<std::string, double> summary;  // the values of metrics, where their last one is none
  std::vector<std::string> remarks;       // one sentence each
};

// A metric's file in MLflow's file store, EXPERIMENT/RUN/metrics/NAME, whose NAME may have '/'.
struct MlflowMetricFile {
  std::filesystem::path run;  // the folder of the run, whose name is 32 hexadecimal digits
  std::string metric;
};
std::optional<MlflowMetricFile> MlflowMetricFileOf(const std::filesystem::path& file);

// The metrics' files of one run, relative; `read` reads one of them.
using ReadTrackerFile = std::function<Result<std::string>(const std::filesystem::path& file)>;
// Points are ordered as MLflow does; of several at one step the last one counts, with a remark.
// Lines that are no points are remarks. Errors: those of `read`; invalid_input, with `where`, for
// files of several runs, and for a run without any metric.
Result<TrackerLog> ReadMlflowFiles(const std::vector<std::filesystem::path>& files,
                                   const ReadTrackerFile& read, const std::string& where);

// The bytes of MLflow's database. `counts(run)`: whether to look at the run; empty: at all. Runs
// that were deleted, and those without metrics, do not count. Errors: invalid_input, with `where`;
// not_found where none of its runs counts.
using CountsRun = std::function<bool(const std::string& run)>;
Result<TrackerLog> ReadMlflowDatabase(std::string bytes, const std::string& where,
                                      const CountsRun& counts = {});
// The runs in it that have metrics and were not deleted, by id. Errors: as above.
Result<std::vector<std::string>> MlflowRunsIn(std::string bytes, const std::string& where);

// The bytes of run-ID.wandb. Damaged places are remarks.
Result<TrackerLog> ReadWandbRunLog(std::string_view log, const std::string& where);
bool IsWandbLogName(const std::filesystem::path& file);

// Whether a folder holds one of these, among its first 2,000 files.
bool HoldsTrackerLog(const std::filesystem::path& folder);
// That of the folder: W&B's log, else MLflow's file store. Errors: not_found, and those above.
Result<TrackerLog> LoadTrackerFolder(const std::filesystem::path& folder);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_TRACKER_LOG_H_
