// The files of an attempt as a framed log, from the machine that made them, and back into a folder.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_FRAMED_FILES_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_FRAMED_FILES_H_

#include <filesystem>
#include <string>
#include <string_view>

#include "harness/base/result.h"
#include "harness/execution/rerun/rerun.h"

namespace rharness {

// Call it before the end marker is written. `folder` is that of the rerun's context. If a log
// cannot carry the kept outputs beside evidence and logs, none of them is kept: the evidence has
// their digests, and says so. Errors: io.
Status KeepWhatALogCarries(const std::filesystem::path& folder, const Ticket& ticket,
                           RerunResult* result);

// Evidence, logs, kept outputs and the end marker. Errors: invalid_input if they are too large for
// a log; io.
Result<std::string> FrameRerun(const std::filesystem::path& folder, const Ticket& ticket,
                               const RerunResult& result);

// Writes the files of this ticket in a log below `folder`, the end marker last; false if the log
// has none.
// Errors: integrity, also for a file that is not the attempt's; io.
Result<bool> UnpackRerun(std::string_view log, const Ticket& ticket,
                         const std::filesystem::path& folder);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_FRAMED_FILES_H_
