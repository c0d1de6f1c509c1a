// One rerun with tracing on, and its trace.
#ifndef RHARNESS_HARNESS_EXPERIMENTS_ONSET_TRACED_RERUN_H_
#define RHARNESS_HARNESS_EXPERIMENTS_ONSET_TRACED_RERUN_H_

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/drill/drill.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// Reruns `manifest` below `folder` as a drill would, with RHARNESS_TRACE and, unless the
// environment given says otherwise, RHARNESS_TRACE_OPERATORS=1, the hooks' folder first in
// PYTHONPATH (host runs) and `steps` in RHARNESS_TRACE_STEPS if given, and writes the trace to
// folder/trace. In a container the program must load the hooks itself. Returns the trace's path, or
// nothing, with the reason in `notes`. Returns an existing trace at once. Errors: io,
// invalid_input.
Result<std::filesystem::path> TraceRerun(const Manifest& manifest,
                                         const std::filesystem::path& folder,
                                         const std::string& steps, const DrillOptions& options,
                                         const std::function<bool()>& should_stop, Clock* clock,
                                         std::vector<std::string>* notes);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ONSET_TRACED_RERUN_H_
