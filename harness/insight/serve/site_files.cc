// Files that people sign, read and verified.
#include "harness/insight/serve/site_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/glob.h"
#include "harness/records/policy/known_probes.h"
#include "harness/trust/attestation/endorsed_file.h"
#include "harness/trust/attestation/trust.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostPolicyFile = 1 << 20;  // as ParsePolicy takes

// Why nobody is named. A file's place goes to the log only.
constexpr char kUnsigned[] = "it is not signed as the trust policy asks, or was changed since";
constexpr char kUnreadable[] = "it cannot be read";
constexpr char kNoTrust[] = "the trust policy cannot be read";

// "h100" of "gates/h100/".
std::string NameOf(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  const fs::path name = whole.has_filename() ? whole.filename() : whole.parent_path().filename();
  return name.string();
}

void Doubt(const char* words, const Error& error, SignedFile* file) {
  file->endorsed.reset();
  file->doubt = words;
  file->trouble = error.ToString();
}

// The signers of this content of it, or the doubt. `sha256`: of the bytes read.
void HoldToSignatures(const fs::path& path, const std::string& sha256,
                      const Result<TrustPolicy>& trust, WallTime now, SignedFile* file) {
  if (!trust.ok()) return Doubt(kNoTrust, trust.error(), file);
  auto endorsed = VerifyEndorsed(path, *trust, now);
  if (!endorsed.ok()) return Doubt(kUnsigned, endorsed.error(), file);
  if (endorsed->endorsement()->file.sha256 != sha256) {
    return Doubt(kUnsigned, IntegrityError("was changed while it was read", path.string()), file);
  }
  file->endorsed = std::move(*endorsed);
}

SitePolicy ReadPolicy(const std::string& path, const Result<TrustPolicy>& trust, WallTime now) {
  SitePolicy out{.file = {.name = NameOf(path)}};
  const auto text = ReadFile(path, kMostPolicyFile);
  if (!text.ok()) {
    Doubt(kUnreadable, text.error(), &out.file);
    return out;
  }
  auto policy = ParsePolicy(*text, path);
  if (!policy.ok()) {
    Doubt(kUnreadable, policy.error(), &out.file);
    return out;
  }
  out.policy = std::move(*policy);
  HoldToSignatures(path, Sha256HexOf(*text), trust, now, &out.file);
  return out;
}

SiteBaseline ReadBaseline(const std::string& folder, const Result<TrustPolicy>& trust,
                          WallTime now) {
  SiteBaseline out{.file = {.name = NameOf(folder)}};
  auto baseline = LoadBaseline(folder);
  if (!baseline.ok()) {
    Doubt(baseline.error().code == ErrorCode::kIntegrity ? kUnsigned : kUnreadable,
          baseline.error(), &out.file);
    return out;
  }
  out.record = std::move(baseline->record);
  out.hardware_class = baseline->fingerprint.hardware_class;
  HoldToSignatures(fs::path(folder) / kBaselineRecord, baseline->records_sha256, trust, now,
                   &out.file);
  return out;
}

// Who answers for it by the file, and by the signature under it.
void TellSigner(const SignedFile& file, const std::string& named, SiteAnswer* answer) {
  answer->file = file.name;
  answer->doubt = file.doubt;
  if (!file.endorsed) return;
  if (named.empty() || IsSignedBy(*file.endorsed, named)) {
    answer->signed_by = OwnersOf(*file.endorsed);
  } else {
    answer->doubt = "whom it names has not signed the file";
  }
}

void AddWaivers(const Manifest& run, const SiteFiles& files, WallTime now,
                std::vector<SiteAnswer>* answers) {
  for (const SitePolicy& one : files.policies) {
    for (const Waiver& waiver : one.policy.waivers) {
      if (!MayConcern(waiver.probes, run.probe_families)) continue;
      SiteAnswer answer{.kind = "waiver",
                        .about = waiver.probes,
                        .reason = waiver.reason,
                        .until = FormatUntil(waiver.until),
                        .holds = now < waiver.until};
      TellSigner(one.file, waiver.signed_by, &answer);
      answers->push_back(std::move(answer));
    }
  }
}

void AddSubstitutes(const Manifest& run, const SiteFiles& files, WallTime now,
                    std::vector<SiteAnswer>* answers) {
  const auto& gpus = run.environment.hardware.gpus;
  for (const SitePolicy& one : files.policies) {
    for (const Substitute& substitute : one.policy.substitutes) {
      const bool for_it = std::ranges::any_of(
          gpus, [&](const Gpu& gpu) { return GlobMatches(substitute.recorded, gpu.model); });
      if (!for_it) continue;
      const bool proved = substitute.is_proved();
      SiteAnswer answer{
          .kind = "substitute",
          .about = substitute.recorded + " → " + substitute.here,
          .reason = proved ? "two fingerprints show that they compute alike" : substitute.reason,
          .until = proved ? "" : FormatUntil(substitute.until),
          .holds = proved || now < substitute.until};
      TellSigner(one.file, substitute.signed_by, &answer);
      answers->push_back(std::move(answer));
    }
  }
}

void AddBaselines(const Manifest& run, const SiteFiles& files, WallTime now,
                  std::vector<SiteAnswer>* answers) {
  const Hardware& hardware = run.environment.hardware;
  const std::string& mine = hardware.gpus.empty() ? hardware.cpu.model : hardware.gpus[0].model;
  for (const SiteBaseline& one : files.baselines) {
    const bool known = !one.hardware_class.empty() && !mine.empty();
    if (known && one.hardware_class != mine) continue;
    const BaselineRecord& record = one.record;
    SiteAnswer answer{.kind = "baseline", .about = one.file.name};
    if (!record.fingerprint_sha256.empty()) {
      answer.about += ", fingerprint " + record.fingerprint_sha256.substr(0, 12);
      answer.reason = record.reason;
      answer.until = FormatUntil(record.expires);
      answer.holds = now < record.expires;
    }
    if (!known) answer.about += " (whether it is for this run's hardware is not known)";
    TellSigner(one.file, "", &answer);
    answer.file = kBaselineRecord;
    answers->push_back(std::move(answer));
  }
}

Status RequireThere(const fs::path& path) {
  std::error_code error;
  if (fs::exists(path, error)) return {};
  return NotFound("is not there", path.string());
}

}  // namespace

std::vector<const SignedFile*> SiteFiles::all() const {
  std::vector<const SignedFile*> files;
  for (const SitePolicy& one : policies) files.push_back(&one.file);
  for (const SiteBaseline& one : baselines) files.push_back(&one.file);
  return files;
}

Status CheckSiteFiles(const SiteFilesAsked& asked) {
  if (!asked.any()) {
    return asked.trust.empty()
               ? Status()
               : Status(InvalidInput("goes with --policy or --baseline", "--trust"));
  }
  if (asked.trust.empty()) {
    return InvalidInput("policies and baselines are shown with who signed them: expected --trust",
                        asked.policies.empty() ? "--baseline" : "--policy");
  }
  for (const std::string& path : asked.policies) RETURN_IF_ERROR(RequireThere(path));
  for (const std::string& folder : asked.baselines) {
    RETURN_IF_ERROR(RequireThere(fs::path(folder) / kBaselineRecord));
  }
  const auto trust = LoadTrustPolicy(asked.trust);
  return trust.ok() ? Status() : Status(trust.error());
}

SiteFiles ReadSiteFiles(const SiteFilesAsked& asked, WallTime now) {
  const auto trust = LoadTrustPolicy(asked.trust);
  SiteFiles files;
  for (const std::string& path : asked.policies) {
    files.policies.push_back(ReadPolicy(path, trust, now));
  }
  for (const std::string& folder : asked.baselines) {
    files.baselines.push_back(ReadBaseline(folder, trust, now));
  }
  return files;
}

std::vector<SiteAnswer> AnswersFor(const Manifest& run, const SiteFiles& files, WallTime now) {
  std::vector<SiteAnswer> answers;
  AddWaivers(run, files, now, &answers);
  AddSubstitutes(run, files, now, &answers);
  AddBaselines(run, files, now, &answers);
  std::ranges::stable_sort(answers, std::greater(), &SiteAnswer::holds);
  return answers;
}

}  // namespace rharness
