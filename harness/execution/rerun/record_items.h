// Evaluations with their items among the outputs of a run: recorded, and measured in a rerun.
//
// Role: an artifact of the role "items" is a file of items, or the folder in which a run writes one
// under a name that changes (samples_TASK_DATE.jsonl). Its SHA-256 is that of the text that is kept
// of it (compare/items/kept_items.h); the mean of each score is a metric of the run.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_ITEMS_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_ITEMS_H_

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "compare/items/eval_items.h"
#include "harness/base/held_folder.h"
#include "harness/execution/rerun/record.h"
#include "harness/execution/rerun/record_outputs.h"

namespace rharness {

struct MeasuredItems {
  std::string text;                     // to keep
  std::map<std::string, double> means;  // by the names of kept_items.h
};

// Reads the evaluation at artifact->path below `folder`, of what `counts` says of paths relative to
// `folder`, and fills sha256 and size_bytes. Errors: those of LoadEvalItems.
Result<MeasuredItems> MeasureItems(const HeldFolder& folder, const CountsAsItems& counts,
                                   Artifact* artifact);

// After a run: the first folder below `folder` with samples of lm-evaluation-harness that the run
// wrote, else the first file of items. Empty: none.
std::optional<Artifact> FindItems(const std::filesystem::path& folder,
                                  const OutputIdentities& before, Recording* out);

// Measures a declared or found artifact, and puts what is kept of it into the recording.
Status RecordItems(const RecordRequest& request, const std::filesystem::path& folder,
                   const OutputIdentities& before, Artifact artifact, Recording* out);

// Declares every score of items whose name says which values are better (DeclareByName), unless
// metrics are declared.
void ProposeItemMetrics(const RecordRequest& request, Recording* out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_ITEMS_H_
