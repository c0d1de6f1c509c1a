// One rerun with tracing on, and its trace brought home.
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

// Reruns `manifest` below `folder` as a drill would, with RHARNESS_TRACE, the hooks' folder first
// in PYTHONPATH (host runs) and `steps` in RHARNESS_TRACE_STEPS where given, and leaves the trace
// in folder/trace. In a container the program brings the hooks itself. Returns where the trace is,
// or nothing, with the reason in `notes`. A trace that is there already is returned at once.
// Errors: io, invalid_input.
Result<std::filesystem::path> TraceRerun(const Manifest& manifest,
                                         const std::filesystem::path& folder,
                                         const std::string& steps, const DrillOptions& options,
                                         const std::function<bool()>& should_stop, Clock* clock,
                                         std::vector<std::string>* notes);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXPERIMENTS_ONSET_TRACED_RERUN_H_
