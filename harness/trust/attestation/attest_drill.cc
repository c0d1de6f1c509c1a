// Cross-checks a drill's records of its runs, then signs them.
#include "harness/trust/attestation/attest_drill.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/folder_lock.h"
#include "harness/base/held_folder.h"
#include "harness/base/log.h"
#include "harness/base/trouble.h"
#include "harness/drill/journal.h"
#include "harness/execution/rerun/rerun.h"
#include "harness/execution/rerun/rerun_place.h"
#include "harness/history/store.h"
#include "harness/judge/file_proof.h"
#include "harness/trust/attestation/envelope.h"
#include "harness/trust/attestation/held_report.h"
#include "harness/trust/attestation/verdict_statement.h"
#include "reports/text.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostReportBytes = std::uint64_t{256} << 20;

struct DrillKept {
  HeldFolder folder;
  Json json;  // of report.json
  Report report;
  std::string report_sha256;
  JournalContent journal;
};

Result<DrillKept> OpenDrill(const fs::path& path) {
  ASSIGN_OR_RETURN(HeldFolder folder, HeldFolder::Open(path));
  const std::string where = (path / "report.json").string();
  const auto text = folder.ReadFile("report.json", kMostReportBytes);
  if (!text.ok()) {
    return Error{text.error().code,
                 text.error().message + "; expected a drill's folder (--model signs a checkpoint)",
                 where};
  }
  ASSIGN_OR_RETURN(Json json, ParseJson(*text, where));
  ASSIGN_OR_RETURN(Report report, ParseReport(json, where));
  if (report.runs.empty()) return InvalidInput("a drill without runs; nothing to sign", where);
  ASSIGN_OR_RETURN(JournalContent journal, ReadJournal(path / "journal.jsonl"));
  return DrillKept{std::move(folder), std::move(json), std::move(report), Sha256HexOf(*text),
                   std::move(journal)};
}

// Checks its logs and checkpoints, as on resuming a drill.
Status HoldKept(const HeldFolder& folder, const Evidence& evidence, const RerunStep& step,
                const std::string& where) {
  if (!step.logs_sha256.empty()) {
    const auto logs = LogsSha256(folder, evidence);
    if (!logs.ok() && IsTrouble(logs.error())) return logs.error();
    if (!logs.ok()) return IntegrityError("its logs: " + logs.error().ToString(), where);
    if (*logs != step.logs_sha256) {
      return IntegrityError("its stdout.log or stderr.log is not the one that was journalled",
                            where);
    }
  }
  const auto hold = [&](const fs::path& kept, const std::string& sha256) -> Status {
    const auto digest = folder.HashFile(kept);
    if (!digest.ok() && IsTrouble(digest.error())) return digest.error();
    if (!digest.ok()) return IntegrityError("a kept checkpoint: " + digest.error().message, where);
    if (digest->sha256 == sha256) return {};
    return IntegrityError("is not the checkpoint that was kept", (folder.path() / kept).string());
  };
  for (const Artifact& artifact : evidence.artifacts) {
    if (artifact.location.empty()) continue;
    const fs::path home = artifact.location;
    RETURN_IF_ERROR(hold(home, artifact.sha256));
    for (const ArtifactPart& part : artifact.parts) {
      RETURN_IF_ERROR(hold(home.parent_path() / part.path, part.sha256));
    }
  }
  return {};
}

// A rerun, and its evidence as journalled, which is held to the record; adds it to `seen`.
Result<AttestedRerun> TakeRerun(const DrillKept& drill, const Manifest& manifest,
                                const ReportRerun& rerun, std::vector<Evidence>* seen) {
  const std::string& run_id = manifest.run_id;
  AttestedRerun taken{.index = rerun.index,
                      .state = rerun.state,
                      .outcome = SafeText(rerun.outcome),
                      .reason = SafeText(rerun.reason)};
  const std::string job = run_id + "." + RerunName(rerun.index);
  const std::string where = (drill.folder.path() / rerun.evidence_path).string();
  const auto step = drill.journal.last.find(job);
  const std::string journalled =
      step == drill.journal.last.end() ? "" : step->second.evidence_sha256;
  if (journalled.empty()) {
    // One that was lost on its way leaves none that anybody vouches for.
    if (rerun.state != RerunEnd::State::kCompared) return taken;
    return IntegrityError(
        fmt::format("{} was compared, and the journal has no evidence of it", SafeText(job)),
        where);
  }
  ASSIGN_OR_RETURN(const fs::path relative, SafeRelativePath(rerun.evidence_path, where));
  ASSIGN_OR_RETURN(const std::string text, drill.folder.ReadFile(relative, kMostReportBytes));
  taken.evidence_sha256 = Sha256HexOf(text);
  if (taken.evidence_sha256 != journalled) {
    return IntegrityError("is not the evidence that was journalled", where);
  }
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, where));
  ASSIGN_OR_RETURN(Evidence evidence, ParseEvidence(json, where));
  if (evidence.run_id != run_id || evidence.rerun != rerun.index) {
    return IntegrityError(fmt::format("is the evidence of another rerun than {}", SafeText(job)),
                          where);
  }
  const std::string held = ManifestSha256(manifest);
  if (!evidence.manifest_sha256.empty() && evidence.manifest_sha256 != held) {
    return IntegrityError(
        fmt::format("is the evidence of a manifest with sha256 {}; the history has one of {} with "
                    "{}: it was changed after the rerun",
                    evidence.manifest_sha256, SafeText(run_id), held),
        where);
  }
  RETURN_IF_ERROR(HoldKept(drill.folder, evidence, step->second, where));
  taken.artifacts = CheckpointSubjects(evidence.artifacts);
  if (rerun.state == RerunEnd::State::kCompared) seen->push_back(std::move(evidence));
  return taken;
}

// The recorded checkpoints whose tensors were reproduced and whose files were not: their SHA-256
// would be signed unseen. Evidence of older versions comes with no such finding: there a rerun has
// to have written the same files.
std::vector<std::string> Unsignable(const Manifest& manifest, const ReportRun& run,
                                    const std::vector<Evidence>& seen) {
  if (!Reproduced(run.verdict)) return {};
  std::vector<std::string> paths = UnprovenIn(run.findings);
  for (const Artifact& artifact : manifest.artifacts) {
    if (!IsCheckpoint(artifact) || artifact.tensor_digest.empty()) continue;
    bool written_so = false, older = true;
    for (const Evidence& evidence : seen) {
      older &= evidence.manifest_sha256.empty();
      for (const Artifact& written : evidence.artifacts) {
        if (written.path != artifact.path) continue;
        written_so |=
            written.tensor_digest == artifact.tensor_digest && IsWrittenAs(artifact, written);
      }
    }
    if (older && !written_so) paths.push_back(artifact.path);
  }
  return paths;
}

Result<AttestedVerdict> TakeVerdict(const DrillKept& drill, const ReportRun& run,
                                    HistoryStore* store) {
  ASSIGN_OR_RETURN(const Manifest manifest, store->Get(run.run_id));
  std::vector<AttestedRerun> reruns;
  std::vector<Evidence> seen;
  for (const ReportRerun& rerun : run.reruns) {
    ASSIGN_OR_RETURN(reruns.emplace_back(), TakeRerun(drill, manifest, rerun, &seen));
  }
  const std::vector<std::string> unsignable = Unsignable(manifest, run, seen);
  for (const std::string& path : unsignable) {
    LogWarning(fmt::format(
        "{}: {} is not signed: no rerun wrote a file with the recorded sha256, and the drill did "
        "not see the recorded one; record with --keep, and drill with this version",
        SafeText(run.run_id), SafeText(path)));
  }
  return AttestedVerdictOf({&drill.report, drill.report_sha256}, run, manifest, unsignable,
                           std::move(reruns));
}

// The existing envelope at `path`; empty: none.
Result<std::optional<SignedEnvelope>> HeldEnvelope(const fs::path& path,
                                                   const std::string& payload) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return std::optional<SignedEnvelope>();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostEnvelopeBytes));
  auto held = ParseEnvelope(text, path.string());
  if (held.ok() && held->payload == payload && held->payload_type == kStatementPayload) {
    return std::optional<SignedEnvelope>(std::move(*held));
  }
  return InvalidInput(
      "holds another statement than this drill's; expected a folder for it alone (--out)",
      path.string());
}

struct SignedFile {
  AttestedFile file;
  std::string text;
  AttestationRecord record;  // for the history
};

Result<SignedFile> SignVerdict(const AttestedVerdict& verdict, const fs::path& out,
                               Signer* signer) {
  SignedFile signed_file;
  AttestedFile& file = signed_file.file;
  file.run_id = verdict.run_id;
  file.verdict = verdict.verdict;
  file.path = out / AttestationName(verdict.run_id);
  SignedEnvelope envelope{.payload_type = kStatementPayload,
                          .payload = ToJson(VerdictStatement(verdict)).Dump(),
                          .signatures = {}};
  signed_file.record = {.drill_id = {},
                        .run_id = verdict.run_id,
                        .keyid = signer->public_key().id(),
                        .statement_sha256 = Sha256HexOf(envelope.payload),
                        .attested = {}};
  ASSIGN_OR_RETURN(auto held, HeldEnvelope(file.path, envelope.payload));
  if (held) {
    envelope = std::move(*held);
    const bool has_ours = IsSignedBy(envelope, signer->public_key());
    file.state = has_ours ? AttestState::kUnchanged : AttestState::kSignatureAdded;
    if (has_ours) return signed_file;
  }
  RETURN_IF_ERROR(SignEnvelope(signer, &envelope));
  if (envelope.signatures.size() > kMostSignatures) {
    return InvalidInput(
        fmt::format("has {} signatures already, as many as one may have", kMostSignatures),
        file.path.string());
  }
  signed_file.text = WriteEnvelope(envelope) + "\n";
  return signed_file;
}

// Under a lock, since two concurrent signers must each keep the other's lines.
Result<std::vector<SignedFile>> SignAll(const std::vector<AttestedVerdict>& verdicts,
                                        const fs::path& out, Signer* signer) {
  std::error_code error;
  const bool made = !fs::exists(out, error);
  ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Await(out));
  std::vector<SignedFile> files;
  for (const AttestedVerdict& verdict : verdicts) {
    auto file = SignVerdict(verdict, out, signer);
    if (!file.ok()) {
      if (made) fs::remove(out, error);  // where it is empty
      return file.error();
    }
    files.push_back(std::move(*file));
  }
  for (const SignedFile& one : files) {
    if (!one.text.empty()) RETURN_IF_ERROR(WriteFileAtomic(one.file.path, one.text));
  }
  return files;
}

}  // namespace

std::string AttestationName(std::string_view run_id) {
  return fmt::format("{}.verdict.intoto.jsonl", run_id);
}

Result<std::vector<AttestedFile>> AttestDrill(const AttestRequest& request, Signer* signer) {
  ASSIGN_OR_RETURN(const DrillKept drill, OpenDrill(request.drill));
  const std::string& url = request.history.empty() ? drill.report.history : request.history;
  ASSIGN_OR_RETURN(const auto store, HistoryStore::OpenExisting(url));
  ASSIGN_OR_RETURN(const std::string drill_id,
                   HoldReport(drill.report, drill.json, drill.journal, store.get(),
                              (request.drill / "report.json").string()));
  std::vector<AttestedVerdict> verdicts;
  for (const ReportRun& run : drill.report.runs) {
    ASSIGN_OR_RETURN(verdicts.emplace_back(), TakeVerdict(drill, run, store.get()));
  }
  const fs::path out = request.out.empty() ? request.drill / "attestations" : request.out;
  ASSIGN_OR_RETURN(std::vector<SignedFile> signed_files, SignAll(verdicts, out, signer));
  std::vector<AttestedFile> files;
  std::vector<AttestationRecord> records;
  for (SignedFile& one : signed_files) {
    files.push_back(std::move(one.file));
    records.push_back(std::move(one.record));
    records.back().drill_id = drill_id;
    records.back().attested = SystemClock().Now();
  }
  RETURN_IF_ERROR(store->AddAttestations(records));
  return files;
}

}  // namespace rharness
