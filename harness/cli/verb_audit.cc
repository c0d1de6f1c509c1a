// rharness audit: a log of everything in a history that nobody can change unseen.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/cli/audit_proofs.h"
#include "harness/cli/audit_show.h"
#include "harness/cli/audit_text.h"
#include "harness/cli/outputs.h"
#include "harness/cli/verb.h"
#include "harness/history/location.h"
#include "harness/trust/attestation/open_signer.h"
#include "harness/trust/audit/audit.h"

namespace rharness {
namespace {

constexpr char kWhatIsLogged[] =
    R"text(The log has an entry for each manifest, run, drill, verdict, family and property verdict, retirement, answer of `check --available`, replicate and set of surroundings of the history, with the SHA-256 of what is kept; with --baseline for each line of baseline.jsonl, and with --policy for the policy and each of its waivers and substitutes. Baselines and policies are known by the last part of their path.

It is a folder, beside the file of the history unless --log says otherwise: entries.jsonl, a line an entry; nodes, the hashes of the Merkle tree over these lines (RFC 6962); heads.jsonl, a signed tree head a line. Entries are only ever added.

A log alone can be written anew by whoever can write the folder and the history. What nobody can write anew is a head that somebody else keeps: hand each one over (--out), and hold the log to it (`rharness audit verify --head`).)text";

struct AuditArguments {
  RecordSources sources;
  std::string log;
  std::vector<std::string> heads;
  std::string trust;
  std::string key;
  std::string passphrase_file;
  std::string out;
  bool begin = false;
  bool complete = false;
  bool json = false;
};

Result<std::filesystem::path> LogFolder(const AuditArguments& arguments) {
  if (!arguments.log.empty()) return std::filesystem::path(arguments.log);
  return DefaultLogFolder(arguments.sources.history);
}

Result<std::optional<TrustPolicy>> TrustOf(const AuditArguments& arguments) {
  if (arguments.trust.empty()) return std::optional<TrustPolicy>();
  ASSIGN_OR_RETURN(TrustPolicy policy, LoadTrustPolicy(arguments.trust));
  return std::optional<TrustPolicy>(std::move(policy));
}

Result<int> AppendNow(const AuditArguments& arguments) {
  ASSIGN_OR_RETURN(const auto folder, LogFolder(arguments));
  std::vector<std::string> inputs = FilesOfHistory(arguments.sources.history);
  inputs.insert(inputs.end(), {arguments.key, arguments.trust, (folder / kHeadsFile).string(),
                               (folder / kEntriesFile).string(), (folder / kNodesFile).string()});
  RETURN_IF_ERROR(CheckOutputs({arguments.out}, inputs, arguments.json));
  std::unique_ptr<Signer> signer;
  if (!arguments.key.empty()) {
    ASSIGN_OR_RETURN(signer, OpenSigner(arguments.key, arguments.passphrase_file));
  }
  ASSIGN_OR_RETURN(const auto trust, TrustOf(arguments));
  ASSIGN_OR_RETURN(const Appended done,
                   AppendRecords(arguments.sources, {.folder = folder,
                                                     .begin = arguments.begin,
                                                     .signer = signer.get(),
                                                     .trust = trust ? &*trust : nullptr,
                                                     .clock = &SystemClock()}));
  if (!arguments.out.empty()) {
    if (!done.head) return InvalidInput("there is no head to write; --key signs one", "--out");
    RETURN_IF_ERROR(WriteFiles({{arguments.out, [&] { return *done.head + "\n"; }}}));
    if (arguments.out == "-") return Print(*done.head + "\n");
  }
  if (arguments.json) return PrintJson(AppendedJson(done, folder));
  return Globals().quiet ? kExitOk : Print(AppendedText(done, folder));
}

Result<int> VerifyNow(const AuditArguments& arguments) {
  ASSIGN_OR_RETURN(const auto folder, LogFolder(arguments));
  ASSIGN_OR_RETURN(const auto trust, TrustOf(arguments));
  const AuditRequest request{.sources = arguments.sources,
                             .folder = folder,
                             .kept = {arguments.heads.begin(), arguments.heads.end()},
                             .trust = trust ? &*trust : nullptr,
                             .now = SystemClock().Now()};
  ASSIGN_OR_RETURN(const AuditOutcome outcome, Audit(request));
  if (arguments.json) {
    const int printed = PrintJson(AuditJson(outcome, request));
    if (printed != kExitOk) return printed;
  }
  if (outcome.fault) return *outcome.fault;
  if (!arguments.json && !Globals().quiet) {
    const int printed = Print(AuditText(outcome, request));
    if (printed != kExitOk) return printed;
  }
  if (const ChangedException* changed = FirstChanged(outcome)) {
    LogError(ChangedWords(*changed) + "; `rharness audit append` enters it beside the old one");
    return kExitDrift;
  }
  if (trust && outcome.log.heads.empty() && outcome.log.kept.empty()) {
    LogError(
        "nobody has signed a head of this log, so anybody may have rewritten it: `rharness audit "
        "append --key` signs one, and --head checks the log against a kept one");
    return kExitDrift;
  }
  if (!arguments.complete || outcome.missing.empty()) return kExitOk;
  LogError(MissingWords(outcome.missing));
  return kExitDrift;
}

using AuditStep = Result<int> (*)(const AuditArguments&);

// One of the verbs below `audit`, with what those share that look at a history.
Command& AddAuditStep(Command& audit, const std::shared_ptr<AuditArguments>& arguments,
                      const char* name, const char* summary, AuditStep run) {
  Command& step = audit.AddVerb(name, summary);
  step.Add("--history", &arguments->sources.history,
           "The history: a path, sqlite:PATH or postgresql://HOST:PORT/DATABASE")
      .File("URL")
      .Env("RHARNESS_HISTORY")
      .Required();
  step.Add("--log", &arguments->log,
           "Folder of the log; default: HISTORY.audit, beside the history's file")
      .Folder()
      .Env("RHARNESS_AUDIT_LOG");
  step.Add("--baseline", &arguments->sources.baselines,
           "Folder of accepted baselines (rharness gate baseline) that the log covers, too")
      .Folder()
      .OneEach();
  step.Add("--policy", &arguments->sources.policies,
           "Policy whose waivers and substitutes the log covers, too")
      .File()
      .Env("RHARNESS_POLICY")
      .OneEach();
  step.Add("--trust", &arguments->trust,
           "Trust policy: the keys for heads, and for retirements and deletions where it has a "
           "rule for them (rharness verify --help)")
      .File();
  step.Add("--json", &arguments->json, "Print one JSON document");
  step.Do([arguments, run] {
    const Result<int> code = run(*arguments);
    return code.ok() ? *code : FailWith(code.error());
  });
  return step;
}

void AddAppend(Command& audit, const std::shared_ptr<AuditArguments>& arguments) {
  Command& verb = AddAuditStep(audit, arguments, "append",
                               "Enter new records, and sign a tree head", AppendNow);
  verb.Add("--key", &arguments->key,
           "The private key that signs the head: a PEM file, pkcs11:... or vault:MOUNT/KEY")
      .File();
  verb.Add("--passphrase-file", &arguments->passphrase_file,
           "File whose first line opens an encrypted key")
      .File();
  verb.Add("--begin", &arguments->begin, "Begin the log; its folder must be missing or empty");
  verb.Add("--out", &arguments->out, "Write the newest head to this file, too; - is stdout").File();
  verb.Note(
      "Only --begin begins a log, once. Without --begin and without a log, or with both, nothing "
      "is entered: the log's volume may not be mounted, and a new log would prove nothing about "
      "earlier records.");
  verb.Note(
      "Before it enters anything, append checks the whole log against the history, as `rharness "
      "audit verify` does. It adds nothing to a changed log, and signs no head over a retirement "
      "or a deletion that is not what two people signed. Concurrent appends wait for each other; a "
      "killed one leaves nothing in the log.");
  verb.ExitCode(kExitOk, "every record is in the log");
  verb.ExitCode(kExitUsage, "usage or invalid input, or no log; with --begin: there is one");
  verb.ExitCode(kExitInfrastructure, "it could not be done: a file, the network or the machine");
  verb.ExitCode(kExitIntegrity, "log or history were changed; nothing is entered");
  verb.Example("rharness audit append --history runs.db --key lab.pem --begin");
  verb.Example("rharness audit append --history runs.db --key lab.pem --out heads/today.json");
}

void AddAuditVerify(Command& audit, const std::shared_ptr<AuditArguments>& arguments) {
  Command& verb = AddAuditStep(
      audit, arguments, "verify",
      "Check that nothing was changed or removed; name the first bad entry", VerifyNow);
  verb.Add("--head", &arguments->heads,
           "A kept tree head: a file with one, or a *.jsonl, whose last one counts")
      .File()
      .OneEach();
  verb.Add("--complete", &arguments->complete,
           "End with exit code 1 where a record of the history is not in the log");
  verb.Note(
      "Reads the whole log and the whole history: every line, every hash, every head of the log "
      "and every kept one, and the record of every entry. Records that were added since the last "
      "append are listed and are no fault. Waivers and substitutes that are in their policy no "
      "more are listed as ended. A changed one is reported until the change is entered, too. "
      "Deleted files and retired runs are checked against what two people signed; with --trust "
      "also against the keys that may sign, where the policy has a rule for that. With --trust "
      "there must be a head: one of the log, or a kept one. Nothing is written, and the history "
      "need not be writable. Rules of the trust policy with patterns of families do not apply to "
      "heads, whose predicate is urn:rharness:tree-head:v1.");
  verb.ExitCode(kExitOk, "nothing was changed");
  verb.ExitCode(kExitDrift,
                "a waiver or substitute differs from its entry; --trust: no head of the log is "
                "signed, and none was given; --complete: a record is not in the log");
  verb.ExitCode(kExitUsage, "usage or invalid input, or no log");
  verb.ExitCode(kExitInfrastructure, "it could not be done: a file, the network or the machine");
  verb.ExitCode(kExitIntegrity, "something was changed, removed, or signed by a key that may not");
  verb.Example("rharness audit verify --history runs.db --head kept.json --trust trust.yaml");
}

}  // namespace

void AddAudit(Command& root) {
  const auto arguments = std::make_shared<AuditArguments>();
  Command& audit =
      root.AddVerb("audit", "Append to, verify and show the tamper-evident log of the history");
  audit.Note(kWhatIsLogged);
  AddAppend(audit, arguments);
  AddAuditVerify(audit, arguments);
  AddAuditShow(audit);
  AddAuditProofs(audit);
}

}  // namespace rharness
