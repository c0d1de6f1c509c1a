// Appending to an audit log at the end of a drill or a deletion.
#include "harness/cli/drill_audit.h"

#include <fmt/format.h>

#include <memory>
#include <sstream>
#include <system_error>

#include "harness/base/folder_lock.h"
#include "harness/base/log.h"
#include "harness/base/shell_word.h"
#include "harness/cli/audit_text.h"
#include "harness/cli/outputs.h"
#include "harness/cli/verb.h"
#include "harness/drill/journal.h"
#include "harness/drill/settings.h"
#include "harness/history/location.h"
#include "harness/trust/attestation/open_signer.h"
#include "harness/trust/audit/audit.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Whether `inner` is this folder or lies in it.
bool IsWithin(const fs::path& inner, const fs::path& outer) {
  const auto real = [](const fs::path& path) {
    std::error_code error;
    const fs::path found = fs::weakly_canonical(FromAnywhere(path) / "", error);
    return (error ? path : found).lexically_normal() / "";
  };
  return real(inner).string().starts_with(real(outer).string());
}

std::string KeyFromAnywhere(const std::string& key) {
  return IsKeyFile(key) ? FromAnywhere(key).string() : key;
}

// What does by hand what the drill does at its end, from any folder.
std::string AppendCommand(const DrillAudit& audit, bool begin) {
  std::string command = begin ? "rharness audit append --begin" : "rharness audit append";
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) command += fmt::format(" {} {}", option, ShellWord(value));
  };
  const auto path = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) add(option, FromAnywhere(value).string());
  };
  const auto place = ResolveHistoryUrl(audit.history);
  if (place.ok()) add("--history", *place);  // no error may repeat one with a password
  path("--log", audit.log);
  path("--policy", audit.policy);
  add("--key", KeyFromAnywhere(audit.key));
  path("--passphrase-file", audit.passphrase_file);
  return command;
}

Result<Appended> AppendNewRecords(const DrillAudit& audit) {
  std::unique_ptr<Signer> signer;
  if (!audit.key.empty()) {
    ASSIGN_OR_RETURN(signer, OpenSigner(audit.key, audit.passphrase_file));
  }
  RecordSources sources{.history = audit.history, .baselines = {}, .policies = {}};
  if (!audit.policy.empty()) sources.policies.push_back(audit.policy);
  return AppendRecords(
      sources,
      {.folder = audit.log, .signer = signer.get(), .trust = nullptr, .clock = &SystemClock()});
}

}  // namespace

void AddAuditOptions(Command* command, DrillAudit* audit, const char* does) {
  command->Heading("An audit log");
  command->Add("--audit", &audit->log, does).Folder();
  command
      ->Add("--key", &audit->key,
            "Of --audit: the private key that signs its head: a PEM file, pkcs11:... or "
            "vault:MOUNT/KEY")
      .File();
  command
      ->Add("--passphrase-file", &audit->passphrase_file,
            "With --audit: file whose first line opens an encrypted key")
      .File();
}

std::map<std::string, std::string> KeptAudit(const DrillAudit& audit) {
  std::map<std::string, std::string> kept;
  if (audit.log.empty()) return kept;
  kept["log"] = FromAnywhere(audit.log).string();
  if (!audit.key.empty()) kept["key"] = KeyFromAnywhere(audit.key);
  if (!audit.passphrase_file.empty()) {
    kept["passphrase_file"] = FromAnywhere(audit.passphrase_file).string();
  }
  if (!audit.policy.empty()) kept["policy"] = FromAnywhere(audit.policy).string();
  return kept;
}

void TakeKeptAudit(const fs::path& out, DrillAudit* audit) {
  const fs::path path = out / "journal.jsonl";
  if (!RequireOwn(out).ok() || !RequireOwn(path).ok()) return;
  const auto past = ReadJournal(path);
  if (!past.ok()) return;  // told by the drill itself
  const auto settings = ParseDrillSettings(past->header, path.string());
  if (!settings.ok()) return;
  audit->history = settings->options.history;
  if (!audit->log.empty()) return;
  std::map<std::string, std::string> kept = settings->options.audit;
  audit->log = kept["log"];
  if (audit->key.empty()) {
    audit->key = kept["key"];
    if (audit->passphrase_file.empty()) audit->passphrase_file = kept["passphrase_file"];
  }
  if (audit->policy.empty()) audit->policy = kept["policy"];
}

Status CheckDrillAudit(const DrillAudit& audit, const fs::path& out) {
  if (audit.log.empty() && !audit.key.empty()) return InvalidInput("goes with --audit", "--key");
  if (audit.key.empty() && !audit.passphrase_file.empty()) {
    return InvalidInput("goes with --key", "--passphrase-file");
  }
  if (audit.log.empty()) return {};
  if (IsWithin(audit.log, out) || IsWithin(out, audit.log)) {
    return InvalidInput(
        fmt::format("{} and {} (--out) are one folder or one is in the other; expected one of the "
                    "log's own",
                    audit.log, out.string()),
        "--audit");
  }
  if (!audit.key.empty()) {
    const auto signer = OpenSigner(audit.key, audit.passphrase_file);
    if (!signer.ok()) return signer.error();
  }
  const Status ready = ReadyForAppend(audit.log);
  if (ready.ok()) return {};
  if (ready.error().code == ErrorCode::kNotFound) {
    return NotFound(fmt::format("there is none; is its volume mounted? `{}` begins one; nothing "
                                "was rerun",
                                AppendCommand(audit, true)),
                    "audit log " + audit.log);
  }
  return Error{ready.error().code, ready.error().ToString() + "; nothing was rerun",
               "audit log " + audit.log};
}

Status AppendDone(const DrillAudit& audit, const char* what) {
  const auto done = AppendNewRecords(audit);
  if (!done.ok()) {
    return Error{done.error().code,
                 fmt::format("{}; {} in the history; `{}` enters new records once that is fixed",
                             done.error().ToString(), what, AppendCommand(audit, false)),
                 "audit log " + audit.log};
  }
  std::istringstream lines(AppendedText(*done, audit.log));
  for (std::string line; std::getline(lines, line);) LogInfo(line);
  return {};
}

}  // namespace rharness
