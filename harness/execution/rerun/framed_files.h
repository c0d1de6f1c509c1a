// The files of an attempt as a framed log, on the machine that made them, and back into a folder.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_FRAMED_FILES_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_FRAMED_FILES_H_

#include <filesystem>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/execution/rerun/rerun.h"

namespace rharness {

// To be called before the end marker is written. `folder` is that of the rerun's context. Kept
// outputs that a log cannot carry beside evidence and logs are not kept, none of them: the evidence
// has their digests, and says so. Errors: io.
Status KeepWhatALogCarries(const std::filesystem::path& folder, const Ticket& ticket,
                           RerunResult* result);

// Evidence, logs, kept outputs and the end marker. Errors: invalid_input where they are more than a
// log can carry; io.
Result<std::string> FrameRerun(const std::filesystem::path& folder, const Ticket& ticket,
                               const RerunResult& result);

// Writes what a log holds of this ticket below `folder`, the end marker last; false where it holds
// nothing of it. Errors: integrity, also for a file that is not the attempt's; io.
Result<bool> UnpackRerun(std::string_view log, const Ticket& ticket,
                         const std::filesystem::path& folder);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_FRAMED_FILES_H_
