// The verbs below `history` that a first drill does not need: rharness-more adds them.
#ifndef RHARNESS_HARNESS_CLI_HISTORY_VERBS_H_
#define RHARNESS_HARNESS_CLI_HISTORY_VERBS_H_

#include "harness/cli/command.h"

namespace rharness {

void AddHistoryTrends(Command& history);
void AddHistoryRetire(Command& history);
void AddHistoryPrune(Command& history);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_HISTORY_VERBS_H_
