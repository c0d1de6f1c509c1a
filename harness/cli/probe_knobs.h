// `rharness probe knobs`, for the verb file of `rharness probe`.
#ifndef RHARNESS_HARNESS_CLI_PROBE_KNOBS_H_
#define RHARNESS_HARNESS_CLI_PROBE_KNOBS_H_

#include "harness/cli/verb.h"

namespace rharness {

void AddProbeKnobs(Command& probe);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_PROBE_KNOBS_H_
