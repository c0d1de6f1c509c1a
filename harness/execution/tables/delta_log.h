// The log of a Delta table on disk: its versions, and the files to read for one.
//
// Role: private to this folder. Not here: the meaning of actions (delta_state.h).
// Source: delta-io/delta, PROTOCOL.md, "Delta Log Entries", "Checkpoints".
#ifndef RHARNESS_HARNESS_EXECUTION_TABLES_DELTA_LOG_H_
#define RHARNESS_HARNESS_EXECUTION_TABLES_DELTA_LOG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/descriptor.h"
#include "harness/base/held_folder.h"
#include "harness/base/result.h"
#include "harness/execution/tables/delta_state.h"

namespace rharness {

// The names in a log's folder; with all names at hand the hint `_last_checkpoint` is not needed.
struct LogListing {
  std::set<std::uint64_t> commits;
  std::map<std::uint64_t, std::vector<std::string>> checkpoints;  // whole ones; the files of one
};
// Pure. A checkpoint of several parts counts only if all are there; of several of a version, the
// one of fewest files. Ignores other names.
LogListing ListingOf(const std::vector<std::string>& names);

// The files of the log that make a version.
struct ReadingPlan {
  std::vector<std::string> checkpoint;  // none: from the first commit
  std::vector<std::string> commits;     // in order
};
// Pure. Errors: not_found, for future or cleaned versions.
Result<ReadingPlan> PlanReading(const LogListing& log, std::uint64_t version);

// Feeds the actions of a commit, or of a checkpoint written as JSON, into the state. A line has at
// most 16 MiB. `sidecars`: names that a checkpoint refers to. Errors: invalid_input with the line,
// those of the state, io.
Status ReadActions(const OpenedFile& file, const std::string& name, DeltaState* state,
                   std::vector<std::string>* sidecars);
// The same for a checkpoint or a sidecar in Parquet; at most 50 million rows.
Status ReadCheckpoint(OpenedFile file, const std::string& name, DeltaState* state,
                      std::vector<std::string>* sidecars);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_TABLES_DELTA_LOG_H_
