// The log with the metrics of a recorded run: named, or found among the files that it wrote.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_LOGS_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_LOGS_H_

#include <filesystem>
#include <optional>
#include <string>

#include "harness/execution/rerun/record.h"
#include "harness/execution/rerun/record_outputs.h"

namespace rharness {

// Identity of the file at a path, or nothing: changes whenever it is written or replaced.
std::optional<std::string> IdentityOfFile(const std::filesystem::path& path);

// Before the run: the file at metrics_path, or all files below it if that is a folder; for
// kFindMetrics those below `folder` that may be a log, a checkpoint or items, by their names. At
// most 200,000; further ones count as written by the run.
void IdentifyLogs(const std::string& metrics_path, const std::filesystem::path& folder,
                  OutputIdentities* identities);

// After it: fills metrics and metrics_path, and says what was taken. Errors: those of ReadRunLog;
// invalid_input for a log of another kind than the requested one; not_found where nothing, or
// nothing that can be preferred, is found.
Status MeasureMetrics(const RecordRequest& request, const std::filesystem::path& folder,
                      const OutputIdentities& before, Recording* out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_LOGS_H_
