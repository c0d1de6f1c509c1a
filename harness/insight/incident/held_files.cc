// Checks a run's files against its record and the signatures; see held_files.h.
#include "harness/insight/incident/held_files.h"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/judge/file_proof.h"
#include "harness/records/manifest/artifact.h"
#include "harness/trust/attestation/attest_drill.h"
#include "harness/trust/attestation/endorsed_file.h"
#include "harness/trust/attestation/held_verdict.h"
#include "harness/trust/attestation/model_bundle.h"
#include "harness/trust/attestation/model_files.h"
#include "harness/trust/attestation/verification.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class FilesCheck {
 public:
  FilesCheck(const Manifest& manifest, const HeldFilesRequest& request, WallTime now,
             EnteredDrills* drills)
      : manifest_(manifest), request_(request), now_(now), drills_(drills) {}

  Result<HeldFiles> Run() {
    RETURN_IF_ERROR(CheckFolder(request_.artifacts, "--artifacts"));
    RETURN_IF_ERROR(CheckFolder(request_.signatures, "--signatures"));
    if (!request_.trust.empty()) {
      ASSIGN_OR_RETURN(trust_, LoadTrustPolicy(request_.trust));
    }
    for (const Artifact& artifact : manifest_.artifacts) {
      if (artifact.role == kModelOfTracker) continue;
      const fs::path folder = fs::path(artifact.path).parent_path();
      CheckFile(artifact, artifact.path, {}, artifact.sha256);
      for (const ArtifactPart& part : artifact.parts) {
        CheckFile(artifact, (folder / part.path).generic_string(), part.path, part.sha256);
      }
    }
    if (!request_.signatures.empty()) LookAtVerdict(request_.signatures);
    if (found_) out_.looked.clear();
    return std::move(out_);
  }

 private:
  static Status CheckFolder(const fs::path& folder, const char* option) {
    std::error_code error;
    if (folder.empty() || fs::is_directory(folder, error)) return {};
    return NotFound(fmt::format("no folder at {}", folder.string()), option);
  }

  // The place of a file of the artifact. Empty: not recorded.
  Result<fs::path> PlaceOf(const Artifact& artifact, const std::string& path,
                           const std::string& part) const {
    if (!request_.artifacts.empty()) return ResolveBelow(request_.artifacts, path);
    if (artifact.location.empty()) return fs::path();
    ASSIGN_OR_RETURN(const fs::path own, Locate(request_.places, artifact.location));
    return part.empty() ? own : own.parent_path() / part;
  }

  void CheckFile(const Artifact& artifact, const std::string& path, const std::string& part,
                 const std::string& sha256) {
    IncidentFile file{.path = path, .role = artifact.role, .state = {}, .words = {}};
    file.checkpoint = IsCheckpoint(artifact);
    const Result<fs::path> place = PlaceOf(artifact, path, part);
    if (!place.ok()) {
      const bool gone = place.error().code == ErrorCode::kNotFound;
      Tell(&file, gone ? FileState::kMissing : FileState::kNotRead, place.error().message);
      if (gone) Damaged(file, "is gone");
      if (place.error().code != ErrorCode::kUnsupported) {
        NotFoundAt(file, request_.artifacts.empty() ? artifact.location : path);
      }
    } else if (place->empty()) {
      Tell(&file, FileState::kNotKept, "the record does not say where it is kept");
    } else if (sha256.empty()) {
      Tell(&file, FileState::kNotRead, "the record has no SHA-256 of it");
    } else {
      Hold(*place, sha256, &file);
      if (part.empty() && file.state == FileState::kAsRecorded) {
        HoldTensors(artifact, *place, &file);
      }
    }
    out_.files.push_back(std::move(file));
  }

  static void Tell(IncidentFile* file, FileState state, std::string words) {
    file->state = state;
    file->words = std::move(words);
  }

  void Damaged(const IncidentFile& file, std::string_view how) {
    if (!file.checkpoint || !out_.damage.empty()) return;
    out_.damage = fmt::format("its file {} {}", file.path, how);
  }

  void NotFoundAt(const IncidentFile& file, const std::string& place) {
    if (file.checkpoint && out_.looked.empty()) out_.looked = TerminalSafe(place);
  }

  void Hold(const fs::path& place, const std::string& sha256, IncidentFile* file) {
    const Result<FileDigest> digest = HashFile(place);
    if (!digest.ok()) {
      const bool gone = digest.error().code == ErrorCode::kNotFound;
      Tell(file, gone ? FileState::kMissing : FileState::kNotRead,
           gone ? fmt::format("it is not at {}: give its folder with --root or --artifacts",
                              TerminalSafe(place.string()))
                : digest.error().message);
      if (gone) NotFoundAt(*file, place.string());
      return Damaged(*file, gone ? "is gone" : "cannot be read");
    }
    found_ |= file->checkpoint;
    const bool same = digest->sha256 == sha256;
    Tell(file, same ? FileState::kAsRecorded : FileState::kChanged,
         same ? fmt::format("sha256 {}, as recorded", sha256)
              : fmt::format("sha256 {}, recorded {}", digest->sha256, sha256));
    if (!same) Damaged(*file, "is not the recorded one");
    out_.tampered |= !same && file->checkpoint;
    LookAtVerdict(place.parent_path());
    const SignedSubject recorded{place.filename().string(), sha256};
    LookAt(EndorsementPath(place),
           [&](const fs::path& at) { return EndorsementWords(at, recorded, place); });
    LookAt(fs::path(place.string() + kModelBundle),
           [&](const fs::path& at) { return ModelWords(at, place, same); });
  }

  // What drills compared are tensors, not files: a file with the recorded SHA-256 must hold them.
  void HoldTensors(const Artifact& artifact, const fs::path& place, IncidentFile* file) {
    if (!file->checkpoint) return;
    const Status held = HoldTensorsAt(artifact, place);
    if (held.ok()) return;
    if (held.error().code != ErrorCode::kIntegrity) {
      Tell(file, FileState::kNotRead, "its tensors cannot be read: " + held.error().message);
      return Damaged(*file, "cannot be read as a checkpoint");
    }
    Tell(file, FileState::kChanged, held.error().message);
    Damaged(*file, "has other tensors than the recorded ones");
    out_.tampered = true;
  }

  void LookAtVerdict(const fs::path& folder) {
    LookAt(folder / AttestationName(manifest_.run_id),
           [this](const fs::path& at) { return VerdictWords(at); });
  }

  // `words`: its content, compared with the record.
  void LookAt(const fs::path& statement,
              const std::function<Result<std::string>(const fs::path&)>& words) {
    std::error_code error;
    if (!fs::is_regular_file(statement, error) || !seen_.insert(statement).second) return;
    IncidentSignature one{statement.filename().string(), SignatureState::kNotChecked,
                          "no trust policy was given: --trust names the trusted keys"};
    if (trust_) {
      const Result<std::string> said = words(statement);
      one.state = said.ok() ? SignatureState::kVerified : SignatureState::kRefused;
      one.words = said.ok() ? *said : said.error().message;
      out_.tampered |= !said.ok();
      if (!said.ok() && out_.damage.empty()) out_.damage = "what was signed for it is refused";
    }
    out_.signatures.push_back(std::move(one));
  }

  // Every line is a verdict on the run, as its record and the history have it.
  Result<std::string> VerdictWords(const fs::path& statement) const {
    ASSIGN_OR_RETURN(const VerifiedFile file, VerifyFile(statement, *trust_, now_));
    std::string words;
    for (const Verified& line : file.statements) {
      const AttestedVerdict* said = line.verdict();
      if (said == nullptr) return IntegrityError("what was signed is no verdict on a run", {});
      ASSIGN_OR_RETURN(const HeldVerdict held, HoldToHistory(*said, manifest_, drills_, {}));
      words += fmt::format("{}{} {}, decided {} by drill {}{}, signed by {}",
                           words.empty() ? "" : "; ", said->run_id, VerdictLabel(said->verdict),
                           FormatMinute(said->decided), said->drill_id,
                           held.superseded ? ", which says otherwise since it was resumed" : "",
                           SignersText(line.signed_by));
    }
    for (const Error& line : file.not_counted) words += "; not counted: " + line.message;
    return words;
  }

  // Lines for older contents, for other names and of keys that left the policy count for nothing;
  // one for the recorded content must be there, and be the newest.
  Result<std::string> EndorsementWords(const fs::path& statement, const SignedSubject& recorded,
                                       const fs::path& place) const {
    ASSIGN_OR_RETURN(const Verified endorsed,
                     VerifyEndorsedBy(statement, recorded, place.string(), *trust_, now_));
    return "answered for, signed by " + SignersText(endorsed.signed_by);
  }

  Result<std::string> ModelWords(const fs::path& statement, const fs::path& place,
                                 bool same) const {
    ASSIGN_OR_RETURN(const VerifiedFile file, VerifyFile(statement, *trust_, now_));
    const Verified& one = file.statements.front();
    const SignedModel* model = one.model();
    if (model == nullptr) return IntegrityError("what was signed is no model", {});
    if (!same) return IntegrityError("the file is not the recorded one, whatever was signed", {});
    const auto held = HoldModel(*model, place);
    if (!held.ok()) return held.error();
    return "signed as a model, signed by " + SignersText(one.signed_by);
  }

  const Manifest& manifest_;
  const HeldFilesRequest& request_;
  const WallTime now_;
  EnteredDrills* drills_;
  std::optional<TrustPolicy> trust_;
  std::set<fs::path> seen_;
  bool found_ = false;  // a checkpoint was
  HeldFiles out_;
};

}  // namespace

Result<HeldFiles> HoldFilesToRecord(const Manifest& manifest, const HeldFilesRequest& request,
                                    WallTime now, EnteredDrills* drills) {
  return FilesCheck(manifest, request, now, drills).Run();
}

}  // namespace rharness
