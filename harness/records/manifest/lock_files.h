// Lock files: what a run's packages were to be, as the tools that install them write it down.
//
// Role: found beside the code of a run and of a rerun, and compared by name and SHA-256. What was
// installed is another matter: packages.h. Runs nothing.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_LOCK_FILES_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_LOCK_FILES_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

// Patterns of the names of lock files, and the tool that each is of.
struct LockFileKind {
  std::string_view pattern;  // with * and ?
  std::string_view tool;
};
const std::vector<LockFileKind>& LockFileKinds();

// The SHA-256 of each lock file in `base`, in its `working_directory` and in the folders between
// them, by its path relative to `base`. Links, files over 16 MiB, files beyond the 64th and what
// cannot be read are left out.
std::map<std::string, std::string> FindLockFiles(const std::filesystem::path& base,
                                                 const std::string& working_directory);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_LOCK_FILES_H_
