// Runs probes, each in a child process with a time limit, and assembles the fingerprint.
//
// Role: the work of `rharness-probe run`. A crash, a hang or a wrong answer of one probe is its
// result; the others continue.
#ifndef RHARNESS_PROBES_RUNNER_H_
#define RHARNESS_PROBES_RUNNER_H_

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "probes/probe.h"

namespace rharness {

struct RunOptions {
  ProbeContext context;
  // The first so many of context.library_paths are requested: each must have something that a probe
  // uses. The others may have.
  std::size_t asked_paths = 0;
  std::vector<std::string> globs;  // of probe names; empty: all of the device except those by name
  // Fresh processes per probe, to find changes between them; a CPU's run concurrently.
  int processes = 2;
  // For all probes together; unfinished ones have timed out. 0: no limit but each probe's.
  std::chrono::seconds budget{0};
  std::function<void(const Probe&, std::size_t done, std::size_t of)> progress;
  // Polled often, by several threads; then the children are killed, and all ends.
  std::function<bool()> should_cancel;
};

// The fingerprint, "rharness.fingerprint/v1": {"schema", "stack": {identity of the machine and its
// libraries}, "suite": "ok" or what is broken, "repeats": {"in_process", "processes"}, "context":
// {when, where, "probe_seconds": {name: of its slowest process}, "by_name": [probes left out
// because no name asked for them]; never compared}, "probes":
// [{"name", "family", "device", "status", "message", "parameters", "choice": {case: object},
// "tree": {case: {"name", "leaves", "sha256", "canonical", what is known of sums of products:
// "arithmetic": {"name", "products", "sums"}, "replayed": {"inputs", "predicted"}, "outputs": that
// the tree is of, "all_outputs", "regions_sha256": which output is in which region, "regions":
// [{"row", "column": of the first output, and the same of each other region}]}}, "bits": {case:
// sha256}, "deterministic", "unstable": [case], "counts", "notes"}]}. A tree's canonical text is
// left out above 64 KiB. Probes in order of names. `program`: the path of rharness-probe itself,
// which the children run. Errors: invalid_input (no probe matches, a requested path has nothing
// that a probe uses), io, process.
Result<Json> RunProbes(const std::string& program, const RunOptions& options);

// The child's side: one probe's result as one JSON object on stdout.
Json ToJson(const ProbeResult& result);
Result<ProbeResult> ParseProbeResult(const Json& json);

}  // namespace rharness

#endif  // RHARNESS_PROBES_RUNNER_H_
