// A part of a probe in a process and an environment of its own.
//
// Role: for a library that reads its variables once, when it starts. Call it before this process
// starts CUDA, since a started driver does not survive a fork.
#ifndef RHARNESS_PROBES_GPU_FORKED_H_
#define RHARNESS_PROBES_GPU_FORKED_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "probes/probe.h"

namespace rharness {

struct VariableChange {
  std::string name;
  std::optional<std::string> value;  // empty: unset
};

// The result of `run` in a forked child with these variables. A child that dies is a failed result
// that names its signal or code. Errors: io (no pipe, no process), those of ParseProbeResult.
Result<ProbeResult> RunForked(const std::vector<VariableChange>& changes,
                              const std::function<ProbeResult()>& run);

// Adds the result of a part to the whole; false, with the part's status and message as the whole's,
// when the part is not ok.
bool AddPart(const std::string& name, ProbeResult part, ProbeResult* whole);

}  // namespace rharness

#endif  // RHARNESS_PROBES_GPU_FORKED_H_
