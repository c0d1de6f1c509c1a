// `rharness slo rules`: alert rules, routes and dashboards over what `rharness slo` measures.
#ifndef RHARNESS_HARNESS_CLI_SLO_RULES_H_
#define RHARNESS_HARNESS_CLI_SLO_RULES_H_

#include "harness/cli/command.h"

namespace rharness {

// Adds the verb below `slo`.
void AddSloRules(Command* slo);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_SLO_RULES_H_
