// Deletions and the audit log.
#include "harness/cli/deletion_audit.h"

#include <fmt/format.h>

#include "harness/base/clock.h"
#include "harness/trust/attestation/open_signer.h"
#include "harness/trust/audit/audit.h"

namespace rharness {

void AddDeletionAudit(Command* apply, DeletionAudit* audit) {
  AddAuditOptions(apply, &audit->log,
                  "Refuse where the audit log of this folder (rharness audit) has a deletion, or "
                  "anything else, that is not in the history; enter the deleted files afterwards");
  apply
      ->Add("--head", &audit->heads,
            "Of --audit: a tree head that somebody kept, which the log must begin with")
      .File()
      .OneEach();
}

Status HoldDeletionToLog(const DeletionAudit& audit) {
  const DrillAudit& log = audit.log;
  if (log.log.empty()) {
    const char* without = !log.key.empty()               ? "--key"
                          : !log.passphrase_file.empty() ? "--passphrase-file"
                          : !audit.heads.empty()         ? "--head"
                                                         : nullptr;
    return without == nullptr ? Status() : Status(InvalidInput("goes with --audit", without));
  }
  if (!log.key.empty()) {
    const auto signer = OpenSigner(log.key, log.passphrase_file);
    if (!signer.ok()) return signer.error();
  }
  ASSIGN_OR_RETURN(const AuditOutcome outcome,
                   Audit({.sources = {.history = log.history, .baselines = {}, .policies = {}},
                          .folder = log.log,
                          .kept = {audit.heads.begin(), audit.heads.end()},
                          .trust = nullptr,
                          .now = SystemClock().Now()}));
  if (!outcome.fault) return {};
  return Error{outcome.fault->code, outcome.fault->ToString() + "; nothing was deleted",
               "audit log " + log.log};
}

Status EnterDeletion(const DeletionAudit& audit) {
  return audit.log.log.empty() ? Status() : AppendDone(audit.log, "the deletion is");
}

}  // namespace rharness
