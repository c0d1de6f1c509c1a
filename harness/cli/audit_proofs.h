// The verbs below `rharness audit` that make proofs and check them.
#ifndef RHARNESS_HARNESS_CLI_AUDIT_PROOFS_H_
#define RHARNESS_HARNESS_CLI_AUDIT_PROOFS_H_

#include "harness/cli/command.h"

namespace rharness {

// prove, consistency, check
void AddAuditProofs(Command& audit);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_AUDIT_PROOFS_H_
