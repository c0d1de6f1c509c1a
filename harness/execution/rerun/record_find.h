// What a run read, wrote and drew from, where nobody stated it: the guesses of a recording.
//
// Role: fills a recording from what was observed. Each guess is a hint of the manifest's origin
// (Grade::kHint), with the reason; whoever records states what is wrong (an option) and finds the
// rest (--find).
//
//   what         is found as
//   code, data   files that the run read and that belong to no package: sources by their names;
//                others one by one, or by their folder where it holds more than kMostFound of them
//   weights      the checkpoints of one folder that the run wrote: of the folder that is nearest to
//                the run's own, and then has the newest; of more than kMostFound those whose names
//                mean the best or last one (best.pt, model.safetensors) before the newest. Files
//                that are loaded with one (loaded_files.h) belong to it. A pipeline of diffusers is
//                one folder
//   metrics      the log that --metrics auto finds. The primary one by its name, which says what is
//                better, too; its margin is 1 % of its value, or 0.01 of a share
//   seeds        whole numbers that were set in each Python and that the run was given, in its
//                command, a variable, a source or settings (the rule: record_seeds.cc); other
//                generators by their names
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
bool StandsForCheckpoint(std::string_view path);

// Checkpoints that the run wrote elsewhere, by an absolute path or behind a link, which no rerun is
// compared by: a remark on each, or, where no checkpoint is among `found`, a missing output.
void NoteOutputsOutside(const std::vector<Artifact>& found, const std::filesystem::path& folder,
                        Recording* out);

// Settings of a user, which a rerun, in a home of its own, does without: a file outside of the
// run's folder and below a hidden one that is no cache of data sets or models.
bool IsSetting(const std::filesystem::path& path);

// Seeds and generators, from the observation; declarations of metrics, from their names.
void FindRandomness(const RecordRequest& request, const std::filesystem::path& folder,
                    Recording* out);
void ProposeMetrics(const RecordRequest& request, Recording* out);
void FindFamily(const RecordRequest& request, const std::filesystem::path& folder, Recording* out);

// Lightning counts its runs: the paths of outputs below "version_3" become those of a rerun, which
// begins without the earlier ones, "version_0".
void RenumberVersions(const OutputIdentities& before, Recording* out);

// The command as a rerun in a tree of its own is to start it: absolute paths of sources below the
// root of the code become relative to the run's folder. Else it would run those of the live tree.
std::vector<std::string> CommandOfTree(const std::vector<std::string>& command,
                                       const std::filesystem::path& folder,
                                       std::string_view working_directory);

// A guess: Grade::kHint.
void MarkFound(std::string_view path, std::string_view from, Recording* out);

// Whether programs read files of this name and hardly any writes one: "train.py", "a.yaml".
bool IsSourceName(std::string_view path);

// Declares a metric as primary: its direction by its name, its margin 1 % of its value, or 0.01 of
// a share.
void DeclareByName(const std::string& name, double value, Recording* out);

// Which values are better, by the name of a metric: "eval_accuracy", "val/loss".
MetricDirection DirectionByName(std::string_view name);

// The family of a command where none is stated: the name of its program file, or of the folder if
// that is a common one (train.py).
std::string FamilyByName(const std::vector<std::string>& command,
                         const std::filesystem::path& folder);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_FIND_H_
