// Finds the objects of a repository.
//
// Role: a repository's own pointers (.git files, commondir, alternates, links) may be untrusted;
// none may lead outside of the declared places.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_GIT_OBJECTS_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_GIT_OBJECTS_H_

#include <filesystem>

#include "harness/base/result.h"
#include "harness/execution/rerun/places.h"

namespace rharness {

inline constexpr int kDeepestSubmodule = 8;  // submodules of submodules are read to this depth

// The folder of objects that FindGitFolders finds. Errors: not_found (no repository), invalid_input
// (objects, or alternates of them, lie outside of the declared places), unsupported (a quoted name
// among the alternates), io. Cost: lists the folder.
Result<std::filesystem::path> ObjectsOf(const std::filesystem::path& repository,
                                        const Places& places);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_GIT_OBJECTS_H_
