// The parts of `rharness gate`: judging a candidate, accepting a baseline, looking at a fleet.
#ifndef RHARNESS_HARNESS_CLI_GATE_OPTIONS_H_
#define RHARNESS_HARNESS_CLI_GATE_OPTIONS_H_

#include "harness/cli/verb.h"

namespace rharness {

// `gate baseline accept` and `gate fleet`, below the verb.
void AddGateBaseline(Command& gate);
void AddGateFleet(Command& gate);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_GATE_OPTIONS_H_
