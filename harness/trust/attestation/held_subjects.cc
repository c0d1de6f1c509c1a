// Finds subjects by their names below a folder, and checks each against its signed SHA-256.
#include "harness/trust/attestation/held_subjects.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/base/trouble.h"
#include "harness/records/manifest/manifest.h"
#include "harness/trust/attestation/endorsed_file.h"
#include "harness/trust/attestation/held_verdict.h"
#include "harness/trust/attestation/model_files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

Result<std::string> DigestOf(const HeldFolder& folder, const std::string& name) {
  ASSIGN_OR_RETURN(const fs::path relative, SafeRelativePath(name, "subject"));
  ASSIGN_OR_RETURN(const FileDigest digest, folder.HashFile(relative));
  return digest.sha256;
}

Status HoldSubject(const HeldFolder& folder, const SignedSubject& subject) {
  const std::string where = (folder.path() / Shown(subject.name)).string();
  const auto digest = DigestOf(folder, subject.name);
  if (!digest.ok() && IsTrouble(digest.error())) return digest.error();
  if (!digest.ok()) {
    return IntegrityError(
        fmt::format("a signed subject cannot be looked at: {}", Shown(digest.error().message)),
        where);
  }
  if (*digest == subject.sha256) return {};
  return IntegrityError(fmt::format("has sha256 {}; {} was signed", *digest, subject.sha256),
                        where);
}

// The signer states the run and family of a verdict; its manifest must agree.
Status HoldToText(const AttestedVerdict& verdict, const std::string& text,
                  const std::string& where) {
  const auto json = ParseJson(text, where);
  const auto manifest = json.ok() ? ParseManifest(*json, where) : Result<Manifest>(json.error());
  if (!manifest.ok()) {
    return IntegrityError("was signed as the manifest, and is none: " + manifest.error().message,
                          where);
  }
  return HoldToManifest(verdict, *manifest, Sha256HexOf(text), where);
}

Result<HeldSubjects> HoldManifest(const HeldFolder& folder, const AttestedVerdict& verdict) {
  const std::string& name = verdict.manifest.name;
  RETURN_IF_ERROR(HoldSubject(folder, verdict.manifest));
  ASSIGN_OR_RETURN(const fs::path relative, SafeRelativePath(name, "subject"));
  ASSIGN_OR_RETURN(const std::string text, folder.ReadFile(relative));
  RETURN_IF_ERROR(HoldToText(verdict, text, (folder.path() / Shown(name)).string()));
  return HeldSubjects{.held = 1, .manifest = true};
}

// Required subjects, and optional ones that must be the signed ones if present.
struct SubjectsToHold {
  std::string of;
  std::vector<SignedSubject> required;
  std::vector<SignedSubject> others;
};

SubjectsToHold ToHold(const Verified& verified) {
  if (const Endorsement* one = verified.endorsement()) return {one->file.name, {one->file}, {}};
  if (const auto* one = std::get_if<Retirement>(&verified.said)) {
    return {one->run_id, {one->manifest}, {}};
  }
  if (const auto* one = std::get_if<Deletion>(&verified.said))
    return {one->list.name, {one->list}, {}};
  if (const auto* one = std::get_if<Withdrawal>(&verified.said)) return {one->run_id, {}, {}};
  const AttestedVerdict& verdict = *verified.verdict();
  return {verdict.run_id, verdict.artifacts, {verdict.manifest}};
}

Result<HeldSubjects> HoldToFile(const SubjectsToHold& subjects, const fs::path& file) {
  ASSIGN_OR_RETURN(const FileDigest digest, HashFile(file));
  const auto is_it = [&](const SignedSubject& one) { return one.sha256 == digest.sha256; };
  if (std::ranges::any_of(subjects.required, is_it) ||
      std::ranges::any_of(subjects.others, is_it)) {
    return HeldSubjects{.held = 1};
  }
  const std::size_t count = subjects.required.size() + subjects.others.size();
  return IntegrityError(
      fmt::format("has sha256 {}, which is {} of {}", digest.sha256,
                  count == 1 ? "not that of the one signed subject"
                             : fmt::format("none of the {} signed subjects", count),
                  Shown(subjects.of)),
      file.string());
}

// The SHA-256 of the file of this name below a folder, or of the file itself.
Result<std::string> DigestAt(const fs::path& folder_or_file, const std::string& name) {
  std::error_code error;
  if (!fs::is_directory(folder_or_file, error)) {
    ASSIGN_OR_RETURN(const FileDigest digest, HashFile(folder_or_file));
    return digest.sha256;
  }
  ASSIGN_OR_RETURN(const HeldFolder folder, HeldFolder::Open(folder_or_file));
  auto digest = DigestOf(folder, name);
  if (digest.ok() || IsTrouble(digest.error())) return digest;
  return IntegrityError(
      fmt::format("a signed subject cannot be looked at: {}", Shown(digest.error().message)),
      (folder_or_file / Shown(name)).string());
}

}  // namespace

Status HoldToTensors(const Verified& verified, const fs::path& checkpoint) {
  if (const SignedModel* model = verified.model()) return HoldTensors(*model, checkpoint);
  return IntegrityError("no statement about a model: nothing was signed of these tensors",
                        checkpoint.string());
}

Result<HeldSubjects> HoldToFiles(const Verified& verified, const fs::path& folder_or_file) {
  if (const SignedModel* model = verified.model()) {
    ASSIGN_OR_RETURN(const std::size_t held, HoldModel(*model, folder_or_file));
    return HeldSubjects{.held = held};
  }
  const SubjectsToHold subjects = ToHold(verified);
  std::error_code error;
  const AttestedVerdict* verdict = verified.verdict();
  if (!fs::is_directory(folder_or_file, error)) {
    ASSIGN_OR_RETURN(HeldSubjects held, HoldToFile(subjects, folder_or_file));
    if (verdict == nullptr) return held;
    ASSIGN_OR_RETURN(const FileDigest digest, HashFile(folder_or_file));
    if (digest.sha256 != verdict->manifest.sha256) return held;
    ASSIGN_OR_RETURN(const std::string text, ReadFile(folder_or_file));
    RETURN_IF_ERROR(HoldToText(*verdict, text, folder_or_file.string()));
    held.manifest = true;
    return held;
  }
  ASSIGN_OR_RETURN(const HeldFolder folder, HeldFolder::Open(folder_or_file));
  if (verdict != nullptr && !verdict->unproven.empty()) {
    return IntegrityError(
        fmt::format("{} of run {} is not signed: the drill compared its tensors or metrics, and "
                    "saw no file with the recorded sha256",
                    Shown(verdict->unproven.front()), Shown(verdict->run_id)),
        (folder_or_file / Shown(verdict->unproven.front())).string());
  }
  HeldSubjects held;
  for (const SignedSubject& one : subjects.required) {
    RETURN_IF_ERROR(HoldSubject(folder, one));
    ++held.held;
  }
  for (const SignedSubject& one : subjects.others) {
    if (!fs::exists(fs::symlink_status(folder_or_file / one.name, error))) continue;
    ASSIGN_OR_RETURN(const HeldSubjects manifest, HoldManifest(folder, *verdict));
    held.held += manifest.held;
    held.manifest = manifest.manifest;
  }
  if (held.held > 0) return held;
  return IntegrityError(
      fmt::format("none of the signed subjects of {} lies here", Shown(subjects.of)),
      folder_or_file.string());
}

Result<HeldSubjects> HoldEndorsements(const std::vector<Verified>& lines,
                                      const fs::path& folder_or_file) {
  std::set<std::string> names;
  for (const Verified& line : lines) {
    if (const Endorsement* one = line.endorsement()) names.insert(one->file.name);
  }
  HeldSubjects held;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const std::string sha256, DigestAt(folder_or_file, name));
    std::error_code error;
    const bool folder = fs::is_directory(folder_or_file, error);
    const fs::path file = folder ? folder_or_file / Shown(name) : folder_or_file;
    const auto holding = HoldingLines({name, sha256}, lines, file.string());
    if (!holding.ok()) return holding.error();
    ++held.held;
  }
  return held;
}

}  // namespace rharness
