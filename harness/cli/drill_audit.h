// The audit log of a drill: what it found is entered as soon as the history has it.
#ifndef RHARNESS_HARNESS_CLI_DRILL_AUDIT_H_
#define RHARNESS_HARNESS_CLI_DRILL_AUDIT_H_

#include <string>

#include "harness/base/result.h"
#include "harness/cli/command.h"

namespace rharness {

struct DrillAudit {
  std::string log;  // the folder; empty: nothing is entered
  std::string key;  // empty: no head is signed
  std::string passphrase_file;
};

// --audit, --key and --passphrase-file. Fill `audit`.
void AddAuditOptions(Command* command, DrillAudit* audit);

// Before anything is rerun: a key without a log, or one that cannot be opened, is told at once.
Status CheckDrillAudit(const DrillAudit& audit);

// What `rharness audit append` does, of the history and, where there is one, of the drill's policy.
// Errors: those of AppendRecords and OpenSigner.
Status AppendDrill(const DrillAudit& audit, const std::string& history, const std::string& policy);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_DRILL_AUDIT_H_
