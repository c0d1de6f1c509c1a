// Metrics and curves of a run from the logs that it writes anyway.
//
// Role: one reader for the recorded run and its reruns, so that both are read alike. A log is a
// file or a folder, and its content says which kind it is. The formats are compare/curves's. Not
// here: other tools' records of whole runs (harness/records/intake).
#ifndef RHARNESS_HARNESS_RECORDS_LOGS_RUN_LOG_H_
#define RHARNESS_HARNESS_RECORDS_LOGS_RUN_LOG_H_

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/held_folder.h"
#include "harness/base/result.h"
#include "harness/records/manifest/run_metrics.h"

namespace rharness {

struct RunLogKind {
  std::string_view name;      // "tensorboard", as before the path of --metrics
  std::string_view describe;  // one line for --help
};
// The one with "metrics", which is rharness's own, first.
std::span<const RunLogKind> RunLogKinds();

struct RunLog {
  std::string_view kind;  // a name of RunLogKinds
  std::filesystem::path path;
  // Of a log that holds curves, each metric is the last value of the curve of its name; a summary
  // beside the log (all_results.json) goes before. `left_out` says what else was not taken as it
  // stands: durations, rates and memory, which differ from run to run and are left out by the words
  // of CurveKind::kResource; steps that a restarted program wrote again.
  SalvagedMetrics read;
};

// Which files below the folder count, as those that the run wrote. Empty: all. It is asked for the
// runs in a file of several, too: FILE/RUN (RunsInLog).
using CountsAsWritten = std::function<bool(const std::filesystem::path& relative)>;

// The runs in a log that may hold several, as MLflow's database does, each as LOG/RUN; none for
// other logs, and for one that cannot be read.
std::vector<std::filesystem::path> RunsInLog(const HeldFolder& folder,
                                             const std::filesystem::path& log);

// Whether a file's name is one that a log may have: what cannot be found otherwise.
bool MayBeRunLog(std::string_view file);

// What the content is taken for. kOwn: rharness's form whatever it looks like, for records of a
// version that knew no other.
enum class ReadLogAs { kItsContent, kOwn };

// The log at `path` below `folder`; follows no link. Of a folder: that of a Trainer
// (trainer_state.json there, or in the checkpoint-N with the largest N), else its event files of
// TensorBoard, else the one run of MLflow's file store, else the one other file that is a log, or
// the logs of an evaluation, one a task. Errors: io; not_found (nothing there, or nothing that
// counts); invalid_input with file and place, and for several such files or runs their names;
// integrity (a link). `step`: the column or member of a table or of JSON Lines that is the step;
// empty: one of a known name.
Result<RunLog> ReadRunLog(const HeldFolder& folder, const std::filesystem::path& path,
                          const CountsAsWritten& counts, ReadLogAs as = ReadLogAs::kItsContent,
                          const std::string& step = "");

// What a run wrote of logs below a folder, the best first: rharness's own file, a Trainer's folder,
// event files, MLflow's store, W&B's log, an evaluation's logs, then single files.
struct FoundLogs {
  std::vector<RunLog> logs;                   // `read` is empty
  std::vector<std::filesystem::path> others;  // files of equal rank: none is preferred
};
// Event files are named by a folder whose name is the same in a rerun: one with six digits or more
// is a date or time. Cost: a look at the names, and at the first 64 KiB of those that may be logs.
// Errors: io.
Result<FoundLogs> FindRunLogs(const HeldFolder& folder, const CountsAsWritten& counts);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_LOGS_RUN_LOG_H_
