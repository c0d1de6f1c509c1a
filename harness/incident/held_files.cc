// Files of a run held to its record and to what was signed; see held_files.h.
#include "harness/incident/held_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "harness/attestation/attest_drill.h"
#include "harness/attestation/endorsed_file.h"
#include "harness/attestation/verification.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/manifest/artifact.h"
#include "reports/text.h"
#include "reports/words.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBundle = ".intoto.jsonl";

class FilesCheck {
 public:
  FilesCheck(const Manifest& manifest, const HeldFilesRequest& request, WallTime now)
      : manifest_(manifest), request_(request), now_(now) {}

  Result<HeldFiles> Run() {
    RETURN_IF_ERROR(CheckFolder(request_.artifacts, "--artifacts"));
    RETURN_IF_ERROR(CheckFolder(request_.signatures, "--signatures"));
    if (!request_.trust.empty()) {
      ASSIGN_OR_RETURN(trust_, LoadTrustPolicy(request_.trust));
    }
    for (const Artifact& artifact : manifest_.artifacts) {
      recorded_[artifact.path] = artifact.sha256;
      const std::vector<fs::path> files = FilesOf(artifact);
      for (std::size_t i = 0; i < artifact.parts.size(); ++i) {
        recorded_[files.at(i + 1).generic_string()] = artifact.parts[i].sha256;
      }
    }
    for (const Artifact& artifact : manifest_.artifacts) {
      if (artifact.role == kModelOfTracker) continue;
      const fs::path folder = fs::path(artifact.path).parent_path();
      CheckFile(artifact, artifact.path, {}, artifact.sha256);
      for (const ArtifactPart& part : artifact.parts) {
        CheckFile(artifact, (folder / part.path).generic_string(), part.path, part.sha256);
      }
    }
    if (!request_.signatures.empty()) {
      LookAt(request_.signatures / AttestationName(manifest_.run_id), std::nullopt);
    }
    if (found_) out_.looked.clear();
    return std::move(out_);
  }

 private:
  static Status CheckFolder(const fs::path& folder, const char* option) {
    std::error_code error;
    if (folder.empty() || fs::is_directory(folder, error)) return {};
    return NotFound(fmt::format("no folder at {}", folder.string()), option);
  }

  // Where a file of the artifact lies. Empty: the record does not say.
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
      Tell(&file, gone ? "missing" : "not_read", place.error().message);
      if (gone) Damaged(file, "is gone");
      if (place.error().code != ErrorCode::kUnsupported) {
        NotFoundAt(file, request_.artifacts.empty() ? artifact.location : path);
      }
    } else if (place->empty()) {
      Tell(&file, "not_kept", "the record does not say where it is kept");
    } else if (sha256.empty()) {
      Tell(&file, "not_read", "the record has no SHA-256 of it");
    } else {
      Hold(*place, sha256, &file);
    }
    out_.files.push_back(std::move(file));
  }

  static void Tell(IncidentFile* file, std::string state, std::string words) {
    file->state = std::move(state);
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
      Tell(file, gone ? "missing" : "not_read",
           gone ? fmt::format("it is not at {}: --root or --artifacts says where it lies",
                              TerminalSafe(place.string()))
                : digest.error().message);
      if (gone) NotFoundAt(*file, place.string());
      return Damaged(*file, gone ? "is gone" : "cannot be read");
    }
    found_ |= file->checkpoint;
    const bool same = digest->sha256 == sha256;
    Tell(file, same ? "as_recorded" : "changed",
         same ? fmt::format("sha256 {}, as recorded", sha256)
              : fmt::format("sha256 {}, recorded {}", digest->sha256, sha256));
    if (!same) Damaged(*file, "is not the recorded one");
    out_.tampered |= !same && file->checkpoint;
    for (const std::string& name :
         {AttestationName(manifest_.run_id), place.filename().string() + std::string(kBundle)}) {
      LookAt(place.parent_path() / name, same ? std::optional(place) : std::nullopt);
    }
  }

  // `held`: a file that an endorsement must be of.
  void LookAt(const fs::path& statement, const std::optional<fs::path>& held) {
    std::error_code error;
    if (!fs::is_regular_file(statement, error) || !seen_.insert(statement).second) return;
    IncidentSignature one{statement.filename().string(), "not_checked",
                          "no trust policy was given: --trust says whose keys count"};
    if (trust_) {
      const Result<VerifiedFile> verified = Believed(statement, held);
      std::optional<Error> refused;
      std::string words;
      if (!verified.ok()) refused = verified.error();
      if (verified.ok()) {
        for (const Verified& said : verified->statements) {
          words += (words.empty() ? "" : "; ") + WordsOf(said, &refused);
        }
        for (const Error& line : verified->not_counted) words += "; not counted: " + line.message;
      }
      one.state = refused ? "refused" : "verified";
      one.words = refused ? refused->message : words;
      out_.tampered |= refused.has_value();
      if (refused && out_.damage.empty()) out_.damage = "what was signed for it is refused";
    }
    out_.signatures.push_back(std::move(one));
  }

  // Of a bundle beside a file what holds for the file as it is; older lines are for older contents.
  Result<VerifiedFile> Believed(const fs::path& statement,
                                const std::optional<fs::path>& held) const {
    const bool beside = held && statement.filename() == EndorsementPath(*held).filename();
    if (!beside) return VerifyFile(statement, *trust_, now_);
    ASSIGN_OR_RETURN(Verified endorsed, VerifyEndorsedBy(statement, *held, *trust_, now_));
    return VerifiedFile{.statements = {std::move(endorsed)}, .not_counted = {}};
  }

  // What it says, held to the record.
  std::string WordsOf(const Verified& verified, std::optional<Error>* refused) const {
    std::string by;
    for (const AcceptedKey& key : verified.signed_by) {
      by += fmt::format("{}{} ({})", by.empty() ? "" : ", ", key.name, key.owner);
    }
    const AttestedVerdict* said = verified.verdict();
    if (said == nullptr) return fmt::format("answered for, signed by {}", by);
    const auto other = [&](const SignedSubject& subject) {
      const auto record = recorded_.find(subject.name);
      return record == recorded_.end() || record->second != subject.sha256;
    };
    const auto first = std::ranges::find_if(said->artifacts, other);
    if (said->run_id != manifest_.run_id) {
      *refused = IntegrityError("it is signed for another run: " + said->run_id, {});
    } else if (first != said->artifacts.end()) {
      *refused = IntegrityError(
          fmt::format("{} is not the recorded one in what was signed", first->name), {});
    }
    return fmt::format("{} {}, decided {} by drill {}, signed by {}", said->run_id,
                       VerdictLabel(said->verdict), FormatMinute(said->decided), said->drill_id,
                       by);
  }

  const Manifest& manifest_;
  const HeldFilesRequest& request_;
  const WallTime now_;
  std::optional<TrustPolicy> trust_;
  std::map<std::string, std::string> recorded_;  // SHA-256 by path
  std::set<fs::path> seen_;
  bool found_ = false;  // a checkpoint was
  HeldFiles out_;
};

}  // namespace

Result<HeldFiles> HoldFilesToRecord(const Manifest& manifest, const HeldFilesRequest& request,
                                    WallTime now) {
  return FilesCheck(manifest, request, now).Run();
}

}  // namespace rharness
