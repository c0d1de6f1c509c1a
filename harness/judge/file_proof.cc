// Ties recorded files to recorded tensors; see file_proof.h.
#include "harness/judge/file_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "compare/weights/loaded_files.h"
#include "compare/weights/tensor_digest.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Why the files at `place` are not the recorded ones; empty: they are. Errors: trouble.
Result<std::string> OtherFileAt(const Artifact& recorded, const fs::path& place) {
  const auto look = [](const fs::path& file, const std::string& sha256) -> Result<std::string> {
    const Result<FileDigest> digest = HashFile(file);
    if (!digest.ok() && IsTrouble(digest.error())) return digest.error();
    if (!digest.ok()) return fmt::format("{} cannot be read", TerminalSafe(file.string()));
    if (digest->sha256 == sha256) return std::string();
    return fmt::format("{} has sha256 {} now", TerminalSafe(file.string()), digest->sha256);
  };
  ASSIGN_OR_RETURN(const std::string other, look(place, recorded.sha256));
  if (!other.empty()) return other;
  for (const ArtifactPart& part : recorded.parts) {
    ASSIGN_OR_RETURN(std::string of_part, look(place.parent_path() / part.path, part.sha256));
    if (!of_part.empty()) return of_part;
  }
  return std::string();
}

// Whether both consist of the same files, by their paths: with tensors, each on either side; what
// is loaded beside them may be missing in an older record.
bool HasPartsOf(const Artifact& recorded, const Artifact& seen) {
  const auto lists = [](const std::vector<ArtifactPart>& parts, const std::string& path) {
    return std::ranges::find(parts, path, &ArtifactPart::path) != parts.end();
  };
  return std::ranges::all_of(recorded.parts,
                             [&](const auto& one) { return lists(seen.parts, one.path); }) &&
         std::ranges::all_of(seen.parts, [&](const auto& one) {
           return one.loaded || lists(recorded.parts, one.path);
         });
}

Finding Unproven(const Artifact& recorded, const std::string& why) {
  return {
      .code = kFileUnproven,
      .layer = {},
      .subject = recorded.path,
      .observed = {},
      .limit = recorded.sha256,
      .rule = "a rerun writes the recorded file, or it is still where the record says",
      .message = fmt::format("nothing shows that a file with the recorded sha256 is the {} that "
                             "was judged: no rerun wrote it, and {}",
                             recorded.path, why)};
}

}  // namespace

bool HasSameFiles(const Artifact& recorded, const Artifact& seen) {
  const auto same = [](const ArtifactPart& a, const ArtifactPart& b) {
    return a.path == b.path && a.sha256 == b.sha256;
  };
  return seen.sha256 == recorded.sha256 &&
         (recorded.parts.empty() || std::ranges::equal(recorded.parts, seen.parts, same));
}

Status HoldTensorsAt(const Artifact& recorded, const fs::path& place) {
  // Without a reader the bytes are what is compared.
  if (recorded.tensor_digest.empty() || recorded.tensor_digest == recorded.sha256) return {};
  ASSIGN_OR_RETURN(auto checkpoint, OpenCheckpoint(place));
  ASSIGN_OR_RETURN(checkpoint,
                   WithLoadedFiles(std::move(checkpoint), place, LoadedPartsOf(recorded)));
  ASSIGN_OR_RETURN(const CheckpointDigest digest, DigestCheckpoint(*checkpoint));
  if (digest.sha256 == recorded.tensor_digest) return {};
  return IntegrityError(
      fmt::format("has the recorded sha256 {} and tensors of digest {}; the record says {}",
                  recorded.sha256, digest.sha256, recorded.tensor_digest),
      place.string());
}

bool IsWrittenAs(const Artifact& recorded, const Artifact& seen) {
  const auto is_there = [](const std::vector<ArtifactPart>& parts, const ArtifactPart& one) {
    return std::ranges::any_of(parts, [&](const ArtifactPart& other) {
      return other.path == one.path && other.sha256 == one.sha256;
    });
  };
  return seen.sha256 == recorded.sha256 && HasPartsOf(recorded, seen) &&
         std::ranges::all_of(recorded.parts,
                             [&](const ArtifactPart& one) { return is_there(seen.parts, one); });
}

Result<std::optional<Finding>> FindUnproven(const Artifact& recorded, const Artifact& seen,
                                            const Places& places,
                                            std::vector<std::string>* damage) {
  if (recorded.sha256.empty() && recorded.parts.empty()) return std::optional<Finding>();
  if (!HasPartsOf(recorded, seen)) {
    return std::optional(Unproven(recorded, "the record lists other parts than a rerun wrote"));
  }
  if (recorded.location.empty()) return std::optional(Unproven(recorded, "it was not kept"));
  const auto place = Locate(places, recorded.location);
  if (!place.ok() && IsTrouble(place.error())) return place.error();
  if (!place.ok()) return std::optional(Unproven(recorded, place.error().message));
  ASSIGN_OR_RETURN(const std::string other, OtherFileAt(recorded, *place));
  if (!other.empty()) return std::optional(Unproven(recorded, other));
  const Status held = HoldTensorsAt(recorded, *place);
  if (held.ok()) return std::optional<Finding>();
  if (IsTrouble(held.error())) return held.error();
  if (held.error().code == ErrorCode::kIntegrity) damage->push_back(held.error().ToString());
  return std::optional(Unproven(recorded, "the kept file " + held.error().message));
}

void KeepUnproven(const std::vector<Comparison>& reruns, std::vector<Finding>* findings) {
  const auto proves = [](const Comparison& rerun, const std::string& path) {
    const bool compared = std::ranges::any_of(
        rerun.ends, [](const RerunEnd& end) { return end.state == RerunEnd::State::kCompared; });
    const std::vector<std::string> open = UnprovenIn(rerun.findings);
    return compared && std::ranges::find(open, path) == open.end();
  };
  std::erase_if(*findings, [&](const Finding& finding) {
    return finding.code == kFileUnproven &&
           std::ranges::any_of(
               reruns, [&](const Comparison& rerun) { return proves(rerun, finding.subject); });
  });
}

std::vector<std::string> UnprovenIn(const std::vector<Finding>& findings) {
  std::vector<std::string> paths;
  for (const Finding& finding : findings) {
    if (finding.code == kFileUnproven) paths.push_back(finding.subject);
  }
  return paths;
}

}  // namespace rharness
