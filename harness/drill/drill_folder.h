// The folder of a drill: who may use it, what strays are in it, and what is intact of its evidence.
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

// A root that is not there makes each run look as if its data were. Errors: not_found.
Status RequireRoot(const DrillOptions& options);

// Makes relative places absolute: children run elsewhere, and a resumed drill may start elsewhere.
// Without a history there is no place of one.
// Errors: invalid_input, io, not_found (RequireRoot).
Result<DrillOptions> WithAbsolutePaths(DrillOptions options);

// A drill strews no files among somebody else's: invalid_input where there are any. What a drill
// left that was killed before it began is nobody's.
Status RefuseForeignFolder(const std::filesystem::path& folder);

// Errors: not_found where there is no drill to resume.
Status RequireDrill(const std::filesystem::path& folder);

// The folders of these runs, and of their reruns, are no links: what is written there must not go
// elsewhere. Errors: invalid_input, which names the link; io.
Status RefuseLinks(const std::filesystem::path& folder, const std::vector<std::string>& run_ids);

// Removes the temporary files that WriteFileAtomic left when a process was killed. The caller holds
// the folder's lock.
void RemoveStrays(const std::filesystem::path& folder);

// The evidence that was journalled so; the logs and checkpoints that it speaks of are verified,
// too. Errors: integrity or not_found where anything of it was changed since; io.
Result<Evidence> LoadIntact(const std::filesystem::path& folder, const PlannedRerun& rerun,
                            const RerunStep& collected);

// The folder runs/ in it, for the caller alone: what runs leave is nobody else's, also where the
// reports are for others to read. Errors: io.
Status MakeRunsFolder(const std::filesystem::path& out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_DRILL_FOLDER_H_
