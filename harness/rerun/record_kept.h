// What of the code a recording keeps, beyond its names: the diff of a changed tree, and lock files.
#ifndef RHARNESS_HARNESS_RERUN_RECORD_KEPT_H_
#define RHARNESS_HARNESS_RERUN_RECORD_KEPT_H_

#include <filesystem>
#include <optional>

#include "harness/rerun/git_tree.h"
#include "harness/rerun/record.h"

namespace rharness {

// Fills Recording::lock_files and to_keep, and of the code what the diff says. A diff that cannot
// be kept is a remark: the run is still recorded, and admission says that it cannot be rerun.
// `base`: the code's root.
void KeepSources(const RecordRequest& request, const std::optional<GitTree>& tree,
                 const std::filesystem::path& base, Recording* out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RERUN_RECORD_KEPT_H_
