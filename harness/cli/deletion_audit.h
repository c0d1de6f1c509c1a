// An audit log that a deletion is held to: was this approval spent already?
#ifndef RHARNESS_HARNESS_CLI_DELETION_AUDIT_H_
#define RHARNESS_HARNESS_CLI_DELETION_AUDIT_H_

#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/cli/command.h"
#include "harness/cli/drill_audit.h"

namespace rharness {

struct DeletionAudit {
  DrillAudit log;                  // without a log nothing is held to one
  std::vector<std::string> heads;  // files of heads that somebody kept
};

// --audit, --head, --key and --passphrase-file of `rharness history prune apply`.
void AddDeletionAudit(Command* apply, DeletionAudit* audit);

// Before anything is deleted: the log holds, begins with the kept heads, and every entry of it is
// in the history as it was entered: a deletion that was carried out and is not there any more is
// the first one that is not. Errors: integrity, with that entry; invalid_input (an option without
// its log), not_found (no log, or an empty one), those of OpenSigner.
Status HoldDeletionToLog(const DeletionAudit& audit);

// Afterwards: what is new is entered. Errors: those of AppendDone.
Status EnterDeletion(const DeletionAudit& audit);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_DELETION_AUDIT_H_
