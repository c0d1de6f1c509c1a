// The folder of a drill: access, leftovers, and intact evidence.
#ifndef RHARNESS_HARNESS_DRILL_DRILL_FOLDER_H_
#define RHARNESS_HARNESS_DRILL_DRILL_FOLDER_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/drill/drill.h"
#include "harness/drill/journal.h"
#include "harness/records/manifest/evidence.h"

namespace rharness {

// With a missing root every run would seem to lack its data. Errors: not_found.
Status RequireRoot(const DrillOptions& options);

// Makes relative places absolute: children run elsewhere, and a resumed drill may start elsewhere.
// Without a history there is no place of one.
// Errors: invalid_input, io, not_found (RequireRoot).
Result<DrillOptions> WithAbsolutePaths(DrillOptions options);

// A drill adds no files to a foreign folder: invalid_input for such a folder. Leftovers of a drill
// killed before its start are not foreign.
Status RefuseForeignFolder(const std::filesystem::path& folder);

// Errors: not_found if there is no drill to resume.
Status RequireDrill(const std::filesystem::path& folder);

// Checks that the folders of these runs, and of their reruns, are no links: writes must not go
// elsewhere. Errors: invalid_input, which names the link; io.
Status RefuseLinks(const std::filesystem::path& folder, const std::vector<std::string>& run_ids);

// Removes temporary files that WriteFileAtomic left in a killed process. The caller holds the
// folder's lock.
void RemoveStrays(const std::filesystem::path& folder);

// The evidence as journalled, of a manifest with this digest; also verifies its logs and
// checkpoints. Errors: integrity or not_found if a part changed since; io.
Result<Evidence> LoadIntact(const std::filesystem::path& folder, const PlannedRerun& rerun,
                            const std::string& manifest_sha256, const RerunStep& collected);

// Makes its folder runs/, for the caller alone: the outputs of runs are private, even if the
// reports are for others.
// Errors: io.
Status MakeRunsFolder(const std::filesystem::path& out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_DRILL_FOLDER_H_
