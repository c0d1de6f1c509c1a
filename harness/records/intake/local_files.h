// The files below a folder of an untrusted program, as artifacts.
//
// Role: private to this folder.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_LOCAL_FILES_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_LOCAL_FILES_H_

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/records/intake/intake.h"

namespace rharness {

inline constexpr std::size_t kMostLocalFiles = 100'000;

struct LocalFiles {
  std::vector<Artifact> artifacts;   // by path; without roles
  std::vector<std::string> remarks;  // links, pipes, unreadable files
};

// Path below `folder`, size and, with `request.artifacts`, hash of each regular file; `location` is
// absolute. Follows no symbolic link except `folder` itself. A missing folder has no files. Errors:
// io for a folder that cannot be listed.
Result<LocalFiles> ListLocalFiles(const std::filesystem::path& folder,
                                  const ImportRequest& request);

// "weights" or "optimizer" for names of checkpoints, "log" for logs, plots and pages, which differ
// from run to run; "other" for others. A guess.
std::string RoleByName(std::string_view path);

// root/relative as text, below root after all links. Errors: not_found, io, integrity,
// invalid_input for no regular file or a longer one.
Result<std::string> ReadBelow(const std::filesystem::path& root,
                              const std::filesystem::path& relative, std::uint64_t most_bytes);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_LOCAL_FILES_H_
