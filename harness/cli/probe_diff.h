// `rharness probe diff`, for the verb file of `rharness probe`.
#ifndef RHARNESS_HARNESS_CLI_PROBE_DIFF_H_
#define RHARNESS_HARNESS_CLI_PROBE_DIFF_H_

#include "harness/cli/verb.h"

namespace rharness {

void AddProbeDiff(Command& probe);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_PROBE_DIFF_H_
