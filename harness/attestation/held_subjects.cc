// Subjects by their names below a folder, each held to its signed SHA-256.
#include "harness/attestation/held_subjects.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "harness/attestation/model_files.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/held_folder.h"

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
  if (!digest.ok()) {
    return IntegrityError(
        fmt::format("a signed subject cannot be looked at: {}", Shown(digest.error().message)),
        where);
  }
  if (*digest == subject.sha256) return {};
  return IntegrityError(fmt::format("has sha256 {}; {} was signed", *digest, subject.sha256),
                        where);
}

// What must be there, and what must be the signed one where it is there.
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
  return IntegrityError(
      fmt::format("has sha256 {}, which is none of the {} signed subjects of {}", digest.sha256,
                  subjects.required.size() + subjects.others.size(), Shown(subjects.of)),
      file.string());
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
  if (!fs::is_directory(folder_or_file, error)) return HoldToFile(subjects, folder_or_file);
  ASSIGN_OR_RETURN(const HeldFolder folder, HeldFolder::Open(folder_or_file));
  HeldSubjects held;
  for (const SignedSubject& one : subjects.required) {
    RETURN_IF_ERROR(HoldSubject(folder, one));
    ++held.held;
  }
  for (const SignedSubject& one : subjects.others) {
    if (!fs::exists(fs::symlink_status(folder_or_file / one.name, error))) continue;
    RETURN_IF_ERROR(HoldSubject(folder, one));
    ++held.held;
  }
  if (held.held > 0) return held;
  return IntegrityError(
      fmt::format("none of the signed subjects of {} lies here", Shown(subjects.of)),
      folder_or_file.string());
}

}  // namespace rharness
