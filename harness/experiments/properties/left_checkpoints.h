// What one leg leaves for another: taken out of its workspace, and proved to be still the same.
//
// Role: effects on the folder. A checkpoint lies at runs/RUN/N/left/PATH, and beside it in
// runs/RUN/N/left.json is what it was when it was taken. Whatever a stranger's program wrote is
// reached without any link.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_LEFT_CHECKPOINTS_H_
#define RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_LEFT_CHECKPOINTS_H_

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/records/manifest/property_legs.h"

namespace rharness {

// By the path that the leg left it at. What is not there any more is a file or folder less.
using LeftByPath = std::map<std::string, LeftCheckpoint>;

// Moves these paths, relative to `working_directory` of the workspace, to left/, or finds them
// there from an earlier process; what is an output, too, is brought from artifacts/. What the leg
// did not leave is not among the result. Errors: integrity where one is not what was taken;
// invalid_input where what the leg wrote is neither a file nor a folder of files; the machine's
// trouble.
Result<LeftByPath> TakeLeft(const std::filesystem::path& rerun_folder,
                            const std::string& working_directory,
                            const std::vector<std::string>& paths);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_PROPERTIES_LEFT_CHECKPOINTS_H_
