// Appending to an audit log at the end of a drill.
#include "harness/cli/drill_audit.h"

#include <fmt/format.h>

#include <memory>

#include "harness/attestation/open_signer.h"
#include "harness/audit/audit.h"
#include "harness/base/log.h"
#include "harness/cli/verb.h"
#include "reports/text.h"

namespace rharness {

void AddAuditOptions(Command* command, DrillAudit* audit) {
  command->Heading("An audit log");
  command
      ->Add("--audit", &audit->log,
            "When the verdicts are in the history, enter all that is new in the audit log of this "
            "folder (rharness audit append), with the policy of --policy")
      .Folder();
  command
      ->Add("--key", &audit->key,
            "Of --audit: the private key that signs its head: a PEM file, pkcs11:... or "
            "vault:MOUNT/KEY")
      .File();
  command
      ->Add("--passphrase-file", &audit->passphrase_file,
            "Of --audit: file whose first line opens an encrypted key")
      .File();
}

Status CheckDrillAudit(const DrillAudit& audit) {
  if (audit.log.empty() && !audit.key.empty()) return InvalidInput("goes with --audit", "--key");
  if (audit.key.empty() && !audit.passphrase_file.empty()) {
    return InvalidInput("goes with --key", "--passphrase-file");
  }
  if (audit.key.empty()) return {};
  const auto signer = OpenSigner(audit.key, audit.passphrase_file);
  return signer.ok() ? Status() : signer.error();
}

Status AppendDrill(const DrillAudit& audit, const std::string& history, const std::string& policy) {
  std::unique_ptr<Signer> signer;
  if (!audit.key.empty()) {
    ASSIGN_OR_RETURN(signer, OpenSigner(audit.key, audit.passphrase_file));
  }
  RecordSources sources{.history = history, .baselines = {}, .policies = {}};
  if (!policy.empty()) sources.policies.push_back(policy);
  ASSIGN_OR_RETURN(const Appended done, AppendRecords(sources, {.folder = audit.log,
                                                                .signer = signer.get(),
                                                                .trust = nullptr,
                                                                .clock = &SystemClock()}));
  LogInfo(fmt::format("{}: {} entered; the log has {}{}", audit.log, Counted(done.added, "record"),
                      Counted(done.tree.size, "record"),
                      done.signed_now ? ", under a new head" : ""));
  return {};
}

}  // namespace rharness
