// Files that a recording keeps beyond names and hashes: the diff of a changed tree, lock files, and
// copies of artifacts.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_KEPT_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_KEPT_H_

#include <filesystem>
#include <optional>

#include "harness/execution/rerun/git_tree.h"
#include "harness/execution/rerun/record.h"

namespace rharness {

// Fills Recording::lock_files and to_keep, and the code's members about the diff. A diff that
// cannot be kept is a remark: the run is still recorded, and admission reports that it cannot be
// rerun. `base`: the code's root.
void KeepSources(const RecordRequest& request, const std::optional<GitTree>& tree,
                 const std::filesystem::path& base, Recording* out);

// Adds sources that the commit does not have and that the run read, `paths` below the tree's root,
// to the changes that are kept. Errors: unsupported where none are, and those of MakeDiffOfNew.
Status KeepNewSources(const RecordRequest& request, const std::filesystem::path& folder,
                      const std::vector<std::string>& paths, Recording* out);

// Copies artifacts below RecordRequest::keep, if set. The run is over: a failed copy is a missing
// output, and costs no more than the copy.
void KeepArtifacts(const RecordRequest& request, const std::filesystem::path& folder,
                   Recording* out);

// The recorded form of a folder or file of this machine: relative to --root if it lies below.
std::string PlaceOf(const std::filesystem::path& path, const std::filesystem::path& root);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_RECORD_KEPT_H_
