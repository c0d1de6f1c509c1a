// The verb `rharness audit show`.
#ifndef RHARNESS_HARNESS_CLI_AUDIT_SHOW_H_
#define RHARNESS_HARNESS_CLI_AUDIT_SHOW_H_

#include "harness/cli/command.h"

namespace rharness {

void AddAuditShow(Command& audit);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_AUDIT_SHOW_H_
