// `rharness probe endpoint`: its options, and what it prints.
#ifndef RHARNESS_HARNESS_CLI_PROBE_ENDPOINT_H_
#define RHARNESS_HARNESS_CLI_PROBE_ENDPOINT_H_

#include "harness/cli/command.h"

namespace rharness {

void AddProbeEndpoint(Command& probe);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_PROBE_ENDPOINT_H_
