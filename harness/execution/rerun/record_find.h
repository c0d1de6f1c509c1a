// What a run read, wrote and drew from, where nobody stated it: the guesses of a recording.
//
// Role: fills a recording from what was observed. Each guess is a hint of the manifest's origin
// (Grade::kHint), with the reason; whoever records states what is wrong (an option) and finds the
// rest (--find).
//
//   what             is found as
//   code, data       files that the run read and that belong to no package: sources by their names;
//                    other files one by one, or by their folder where it holds more than kMostFound
//   weights          the checkpoint that the run wrote nearest to its own folder, the newest of
//   these metrics          the log that --metrics auto finds; the primary one by its name, with a
//   direction
//                    by its name and a margin of 1 % of its value (of 0.01 where it is a share)
//   seeds            the whole numbers that were set in each Python; other generators by their
//   names
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_FIND_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_FIND_H_

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harness/execution/rerun/record.h"
#include "harness/execution/rerun/record_outputs.h"

namespace rharness {

// Files of one folder that are listed as data one by one.
inline constexpr std::size_t kMostFound = 8;

// The request with what finding needs: Python's hooks and the log.
RecordRequest WithFinding(RecordRequest request);

// After the run: code and data of the recording. `in_commit`: the code is that of a commit, whose
// files a rerun has; sources beside it stay undeclared.
void FindInputs(const RecordRequest& request, const std::filesystem::path& folder, bool in_commit,
                Recording* out);

// The checkpoints that the run wrote below `folder`, as artifacts to measure. `before`: the files
// there before the run.
std::vector<Artifact> FindOutputs(const std::filesystem::path& folder,
                                  const OutputIdentities& before, Recording* out);

// Whether a file of this name holds a checkpoint, or stands for one in several files.
bool StandsForCheckpoint(const std::filesystem::path& path);

// Seeds and generators, from the observation; declarations of metrics, from their names.
void FindRandomness(const RecordRequest& request, Recording* out);
void ProposeMetrics(const RecordRequest& request, Recording* out);
void FindFamily(const RecordRequest& request, const std::filesystem::path& folder, Recording* out);

// Lightning counts its runs: the paths of outputs below "version_3" become those of a rerun, which
// begins without the earlier ones, "version_0".
void RenumberVersions(const OutputIdentities& before, Recording* out);

// Which values are better, by the name of a metric: "eval_accuracy", "val/loss".
MetricDirection DirectionByName(std::string_view name);

// The family of a command where none is stated: the name of its program file, or of the folder if
// that is a common one (train.py).
std::string FamilyByName(const std::vector<std::string>& command,
                         const std::filesystem::path& folder);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_FIND_H_
