// Lock files: the intended packages of a run, as written by the tools that install them.
//
// Role: found beside the code of a run and of a rerun, and compared by name and SHA-256. packages.h
// finds the installed ones. Runs nothing.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_LOCK_FILES_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_LOCK_FILES_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

// Patterns of the names of lock files, and their tools.
struct LockFileKind {
  std::string_view pattern;  // with * and ?
  std::string_view tool;
};
const std::vector<LockFileKind>& LockFileKinds();

// The SHA-256 of each lock file in `base`, in its `working_directory` and in the folders between
// them, by its path relative to `base`. Leaves out links, files over 16 MiB, files beyond the 64th
// and unreadable ones.
std::map<std::string, std::string> FindLockFiles(const std::filesystem::path& base,
                                                 const std::string& working_directory);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_LOCK_FILES_H_
