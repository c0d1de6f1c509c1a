// The command line of rharness-probe, and of programs with other probes in them.
#ifndef RHARNESS_PROBES_COMMAND_H_
#define RHARNESS_PROBES_COMMAND_H_

#include <string_view>

namespace rharness {

// `list [--json]`, `run [OPTION...]`, `--version`; and `--one NAME`, for runner.h's children.
// `needs`: text of --version after the version. Returns the exit code: 0 when every requested probe
// is ok or absent, 2 for usage, 4 when one failed, crashed or timed out, when the suite is broken,
// or when the fingerprint could not be made.
int RunProbeCommand(int argc, char** argv, std::string_view needs);

}  // namespace rharness

#endif  // RHARNESS_PROBES_COMMAND_H_
