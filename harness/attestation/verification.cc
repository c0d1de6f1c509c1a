// Signatures, rules and files, in the order in which each makes the next worth reading.
#include "harness/attestation/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "harness/attestation/envelope.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/held_folder.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr auto kClockSkew = std::chrono::minutes(10);
constexpr std::uint64_t kMostFileBytes = std::uint64_t{256} << 20;

std::string Shown(std::string_view text) { return TerminalSafe(text.substr(0, 200)); }

// The keys of the policy, by number, that have signed it; the policy's order.
std::vector<std::size_t> SigningKeys(const Envelope& envelope, const TrustPolicy& policy) {
  std::vector<std::size_t> keys;
  for (std::size_t i = 0; i < policy.keys.size(); ++i) {
    if (IsSignedBy(envelope, policy.keys[i].key)) keys.push_back(i);
  }
  return keys;
}

std::string IntervalText(const TrustedKey& key) {
  std::string text;
  if (key.from) text += " from " + FormatTime(*key.from);
  if (key.until) text += " until before " + FormatTime(*key.until);
  return text;
}

// Which of those that signed count for the rule, and why the others do not.
struct CountedKeys {
  std::vector<std::size_t> keys;
  std::string others;
};

CountedKeys CountFor(const TrustRule& rule, const std::vector<std::size_t>& signing,
                     const TrustPolicy& policy, WallTime decided) {
  CountedKeys counted;
  for (const std::size_t at : signing) {
    const TrustedKey& key = policy.keys[at];
    if (std::ranges::find(rule.keys, at) == rule.keys.end()) {
      counted.others += fmt::format("; '{}' signed, and the rule does not name it", key.name);
    } else if (!key.HoldsAt(decided)) {
      counted.others += fmt::format("; '{}' signed, and holds{}, not at {}", key.name,
                                    IntervalText(key), FormatTime(decided));
    } else {
      counted.keys.push_back(at);
    }
  }
  return counted;
}

Error NoSignature(const Envelope& envelope, const std::string& where) {
  std::string ids;
  for (const EnvelopeSignature& one : envelope.signatures) {
    ids += fmt::format("{}{}", ids.empty() ? "" : ", ",
                       one.key_id.empty() ? "none" : Shown(one.key_id.substr(0, 64)));
  }
  return IntegrityError(
      fmt::format("no key of the policy has signed this; its {} by their own words of the keys {}",
                  envelope.signatures.size() == 1 ? "signature is" : "signatures are", ids),
      where);
}

Status CheckTime(const AttestedVerdict& verdict, const std::string& where, WallTime now) {
  if (verdict.decided < verdict.started) {
    return IntegrityError(fmt::format("was decided at {}, before its drill began at {}",
                                      FormatTime(verdict.decided), FormatTime(verdict.started)),
                          where);
  }
  if (verdict.decided <= now + kClockSkew) return {};
  return IntegrityError(
      fmt::format("was decided at {}; it is {} now", FormatTime(verdict.decided), FormatTime(now)),
      where);
}

Result<std::string> DigestOf(const HeldFolder& folder, const std::string& name) {
  ASSIGN_OR_RETURN(const fs::path relative, SafeRelativePath(name, "subject"));
  ASSIGN_OR_RETURN(const FileDigest digest, folder.HashFile(relative));
  return digest.sha256;
}

Status HoldSubject(const HeldFolder& folder, const Subject& subject) {
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

Result<HeldSubjects> HoldToFile(const AttestedVerdict& verdict, const fs::path& file) {
  ASSIGN_OR_RETURN(const FileDigest digest, HashFile(file));
  const auto is_it = [&](const Subject& one) { return one.sha256 == digest.sha256; };
  if (std::ranges::any_of(verdict.artifacts, is_it) || is_it(verdict.manifest)) {
    return HeldSubjects{.held = 1};
  }
  return IntegrityError(fmt::format("has sha256 {}, which is none of the {} signed subjects of {}",
                                    digest.sha256, verdict.artifacts.size() + 1, verdict.run_id),
                        file.string());
}

bool NamesAttestation(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.ends_with(".intoto.jsonl")) return true;
  if (!name.ends_with(".json")) return false;
  const auto text = ReadFile(path, kMostEnvelopeBytes);
  const auto json = text.ok() ? ParseJson(*text, name) : Result<Json>(text.error());
  return json.ok() && json->Find("payloadType") != nullptr && json->Find("payload") != nullptr;
}

}  // namespace

Result<VerifiedVerdict> VerifyVerdict(std::string_view text, std::string_view place,
                                      const TrustPolicy& policy, WallTime now) {
  const std::string where(place);
  ASSIGN_OR_RETURN(const Envelope envelope, ParseEnvelope(text, where));
  const std::vector<std::size_t> signing = SigningKeys(envelope, policy);
  if (signing.empty()) return NoSignature(envelope, where);
  if (envelope.payload_type != kStatementPayload) {
    return IntegrityError(fmt::format("payloadType '{}'; expected {}", Shown(envelope.payload_type),
                                      kStatementPayload),
                          where);
  }
  ASSIGN_OR_RETURN(const Statement statement, ParseStatement(envelope.payload, where));
  VerifiedVerdict verified;
  ASSIGN_OR_RETURN(verified.verdict, ReadVerdictStatement(statement, where));
  const AttestedVerdict& verdict = verified.verdict;
  RETURN_IF_ERROR(CheckTime(verdict, where, now));
  const TrustRule* rule = policy.FindRule(statement.predicate_type, verdict.family);
  if (rule == nullptr) {
    return IntegrityError(fmt::format("no rule of the policy is for {} about family '{}'",
                                      kVerdictPredicate, Shown(verdict.family)),
                          where);
  }
  const CountedKeys counted = CountFor(*rule, signing, policy, verdict.decided);
  if (counted.keys.size() < rule->threshold) {
    return IntegrityError(
        fmt::format("{} of the {} keys that must have signed for family '{}'{}",
                    counted.keys.size(), rule->threshold, Shown(verdict.family), counted.others),
        where);
  }
  verified.threshold = rule->threshold;
  for (const std::size_t at : counted.keys) {
    const TrustedKey& key = policy.keys[at];
    verified.signed_by.push_back({key.name, key.owner, key.key.id()});
  }
  return verified;
}

Result<std::vector<VerifiedVerdict>> VerifyFile(const fs::path& path, const TrustPolicy& policy,
                                                WallTime now) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostFileBytes));
  std::vector<VerifiedVerdict> all;
  if (!path.native().ends_with(".jsonl")) {
    ASSIGN_OR_RETURN(all.emplace_back(), VerifyVerdict(text, path.string(), policy, now));
    return all;
  }
  std::string_view rest = text;
  for (int line = 1; !rest.empty(); ++line) {
    const auto end = rest.find('\n');
    const std::string_view one = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    if (one.find_first_not_of(" \t\r") == one.npos) continue;
    ASSIGN_OR_RETURN(all.emplace_back(),
                     VerifyVerdict(one, fmt::format("{}:{}", path.string(), line), policy, now));
  }
  if (all.empty()) return IntegrityError("holds no envelope; expected one a line", path.string());
  return all;
}

Result<std::vector<fs::path>> FindAttestations(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) return NotFound("is not there", path.string());
  if (!fs::is_directory(status)) return std::vector<fs::path>{path};
  std::vector<fs::path> found;
  fs::recursive_directory_iterator entry(path, error);
  while (!error && entry != fs::recursive_directory_iterator()) {
    const bool file = fs::is_regular_file(entry->symlink_status(error));
    if (!error && file && NamesAttestation(entry->path())) found.push_back(entry->path());
    if (!error) entry.increment(error);
  }
  if (error) return IoError("cannot be listed: " + error.message(), path.string());
  if (found.empty()) {
    return NotFound("has no attestation below it; expected *.intoto.jsonl", path.string());
  }
  std::ranges::sort(found);
  return found;
}

Result<HeldSubjects> HoldToFiles(const AttestedVerdict& verdict, const fs::path& folder_or_file) {
  std::error_code error;
  if (!fs::is_directory(folder_or_file, error)) return HoldToFile(verdict, folder_or_file);
  ASSIGN_OR_RETURN(const HeldFolder folder, HeldFolder::Open(folder_or_file));
  HeldSubjects subjects;
  for (const Subject& one : verdict.artifacts) {
    RETURN_IF_ERROR(HoldSubject(folder, one));
    ++subjects.held;
  }
  if (fs::exists(fs::symlink_status(folder_or_file / verdict.manifest.name, error))) {
    RETURN_IF_ERROR(HoldSubject(folder, verdict.manifest));
    ++subjects.held;
  }
  if (subjects.held > 0) return subjects;
  return IntegrityError(
      fmt::format("none of the signed subjects of {} lies here: it has no checkpoints, and its "
                  "manifest {} is not there",
                  verdict.run_id, verdict.manifest.name),
      folder_or_file.string());
}

}  // namespace rharness
