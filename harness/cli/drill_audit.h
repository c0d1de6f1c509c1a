// The audit log of a drill or a deletion: what it came to is entered as soon as the history has it.
#ifndef RHARNESS_HARNESS_CLI_DRILL_AUDIT_H_
#define RHARNESS_HARNESS_CLI_DRILL_AUDIT_H_

#include <filesystem>
#include <map>
#include <string>

#include "harness/base/result.h"
#include "harness/cli/command.h"

namespace rharness {

struct DrillAudit {
  std::string log;  // the folder; empty: nothing is entered
  std::string key;  // empty: no head is signed
  std::string passphrase_file;
  std::string policy;   // the drill's, entered as well; may be empty
  std::string history;  // the drill's
};

// --audit, --key and --passphrase-file. Fill `audit`. `does`: what --audit does.
void AddAuditOptions(Command* command, DrillAudit* audit, const char* does);

// As the journal of a drill keeps it for --resume, with absolute paths; empty without a log.
std::map<std::string, std::string> KeptAudit(const DrillAudit& audit);
// Of a drill that is resumed: its history and, where it was given no --audit, what it was begun
// with, where its folder is this user's own (--key may be given anew).
void TakeKeptAudit(const std::filesystem::path& out, DrillAudit* audit);

// Before anything is rerun: a key without a log, one that cannot be opened, a folder without a
// log, and one that is in the drill's or around it, are told at once, with what is to be done then.
Status CheckDrillAudit(const DrillAudit& audit, const std::filesystem::path& out);

// What `rharness audit append` does, of the history and, where there is one, of the policy; `what`
// is entered by that: "the verdicts are". Errors: those of AppendRecords and OpenSigner, with what
// is to be done then.
Status AppendDone(const DrillAudit& audit, const char* what);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_DRILL_AUDIT_H_
