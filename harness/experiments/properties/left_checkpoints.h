// Checkpoints that one leg leaves for a later leg: moved out of its workspace, and proved to be
// unchanged.
//
// Role: effects on the folder. A checkpoint lies at runs/RUN/N/left/PATH, and runs/RUN/N/left.json
// beside it has its digest from that moment. Files of an untrusted program are reached without any
// link.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_LEFT_CHECKPOINTS_H_
#define RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_LEFT_CHECKPOINTS_H_

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/records/manifest/property_legs.h"

namespace rharness {

// By the leg's own path. A missing one is a file or folder less.
using LeftByPath = std::map<std::string, LeftCheckpoint>;

// Moves these paths, relative to `working_directory` of the workspace, to left/, or finds them
// there from an earlier process; those that are also outputs come from artifacts/. The result omits
// missing ones. Errors: integrity if one has changed since; invalid_input for anything but a file
// or a folder of files; the machine's trouble.
Result<LeftByPath> TakeLeft(const std::filesystem::path& rerun_folder,
                            const std::string& working_directory,
                            const std::vector<std::string>& paths);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_LEFT_CHECKPOINTS_H_
