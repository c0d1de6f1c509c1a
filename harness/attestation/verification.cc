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
std::vector<std::size_t> SigningKeys(const SignedEnvelope& envelope, const TrustPolicy& policy) {
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

Error NoSignature(const SignedEnvelope& envelope, const std::string& where) {
  std::string ids;
  for (const EnvelopeSignature& one : envelope.signatures) {
    ids += fmt::format("{}{}", ids.empty() ? "" : ", ",
                       one.key_id.empty() ? "none" : Shown(one.key_id.substr(0, 64)));
  }
  return IntegrityError(fmt::format("no key of the policy has signed this; its {} {}",
                                    envelope.signatures.size() == 1 ? "signature names the key"
                                                                    : "signatures name the keys",
                                    ids),
                        where);
}

// What a statement says, in what a rule needs to know of it.
struct Claim {
  std::variant<AttestedVerdict, Endorsement> said;
  std::string family;
  WallTime time{};  // when it was said
};

Result<Claim> ReadClaim(const SignedStatement& statement, const std::string& where) {
  Claim claim;
  if (statement.predicate_type == kEndorsementPredicate) {
    ASSIGN_OR_RETURN(Endorsement endorsement, ReadEndorsement(statement, where));
    claim.time = endorsement.made;
    claim.said = std::move(endorsement);
    return claim;
  }
  if (statement.predicate_type != kVerdictPredicate) {
    return IntegrityError(
        fmt::format("predicateType '{}'; expected {} or {}", Shown(statement.predicate_type),
                    kVerdictPredicate, kEndorsementPredicate),
        where);
  }
  ASSIGN_OR_RETURN(AttestedVerdict verdict, ReadVerdictStatement(statement, where));
  if (verdict.decided < verdict.started) {
    return IntegrityError(fmt::format("was decided at {}, before its drill began at {}",
                                      FormatTime(verdict.decided), FormatTime(verdict.started)),
                          where);
  }
  claim.family = verdict.family;
  claim.time = verdict.decided;
  claim.said = std::move(verdict);
  return claim;
}

Status CheckTime(WallTime time, const std::string& where, WallTime now) {
  if (time <= now + kClockSkew) return {};
  return IntegrityError(
      fmt::format("was said at {}; it is {} now", FormatTime(time), FormatTime(now)), where);
}

// A statement that some keys of the policy have signed; which of them count is not said yet.
struct SignedBySome {
  SignedStatement statement;
  std::vector<std::size_t> signing;  // in TrustPolicy::keys
};

Result<SignedBySome> OpenSigned(std::string_view text, const std::string& where,
                                const TrustPolicy& policy) {
  ASSIGN_OR_RETURN(const SignedEnvelope envelope, ParseEnvelope(text, where));
  std::vector<std::size_t> signing = SigningKeys(envelope, policy);
  if (signing.empty()) return NoSignature(envelope, where);
  if (envelope.payload_type != kStatementPayload) {
    return IntegrityError(fmt::format("payloadType '{}'; expected {}", Shown(envelope.payload_type),
                                      kStatementPayload),
                          where);
  }
  ASSIGN_OR_RETURN(SignedStatement statement, ParseStatement(envelope.payload, where));
  return SignedBySome{std::move(statement), std::move(signing)};
}

struct Asking {
  const TrustPolicy& policy;
  WallTime now;
  const std::string& where;
};
struct Counted {
  std::vector<AcceptedKey> signed_by;
  std::size_t threshold = 1;
};

// Whether enough of them may sign this about that family, said at that time.
Result<Counted> HoldToRule(const SignedBySome& some, const std::string& family, WallTime said,
                           const Asking& asking) {
  RETURN_IF_ERROR(CheckTime(said, asking.where, asking.now));
  const TrustRule* rule = asking.policy.FindRule(some.statement.predicate_type, family);
  if (rule == nullptr) {
    return IntegrityError(fmt::format("no rule of the policy is for {} about family '{}'",
                                      some.statement.predicate_type, Shown(family)),
                          asking.where);
  }
  const CountedKeys counted = CountFor(*rule, some.signing, asking.policy, said);
  if (counted.keys.size() < rule->threshold) {
    return IntegrityError(
        fmt::format("{} of the {} keys that must have signed for family '{}'{}",
                    counted.keys.size(), rule->threshold, Shown(family), counted.others),
        asking.where);
  }
  Counted enough{.signed_by = {}, .threshold = rule->threshold};
  for (const std::size_t at : counted.keys) {
    const TrustedKey& key = asking.policy.keys[at];
    enough.signed_by.push_back({key.name, key.owner, key.key.id()});
  }
  return enough;
}

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

bool NamesAttestation(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.ends_with(".intoto.jsonl")) return true;
  if (!name.ends_with(".json")) return false;
  const auto text = ReadFile(path, kMostEnvelopeBytes);
  const auto json = text.ok() ? ParseJson(*text, name) : Result<Json>(text.error());
  return json.ok() && json->Find("payloadType") != nullptr && json->Find("payload") != nullptr;
}

}  // namespace

Result<Verified> VerifyStatement(std::string_view text, std::string_view place,
                                 const TrustPolicy& policy, WallTime now) {
  const std::string where(place);
  ASSIGN_OR_RETURN(const SignedBySome some, OpenSigned(text, where, policy));
  ASSIGN_OR_RETURN(Claim claim, ReadClaim(some.statement, where));
  ASSIGN_OR_RETURN(Counted counted, HoldToRule(some, claim.family, claim.time, {policy, now, where}));
  return Verified{.said = std::move(claim.said),
                  .signed_by = std::move(counted.signed_by),
                  .threshold = counted.threshold};
}

Result<VerifiedOther> VerifyOther(std::string_view text, std::string_view place,
                                  std::string_view predicate, const StatementTime& time_of,
                                  const TrustPolicy& policy, WallTime now) {
  const std::string where(place);
  ASSIGN_OR_RETURN(SignedBySome some, OpenSigned(text, where, policy));
  if (some.statement.predicate_type != predicate) {
    return IntegrityError(fmt::format("predicateType '{}'; expected {}",
                                      Shown(some.statement.predicate_type), predicate),
                          where);
  }
  const auto time = time_of(some.statement);
  if (!time.ok()) return Error{time.error().code, time.error().message, where};
  ASSIGN_OR_RETURN(Counted counted, HoldToRule(some, "", *time, {policy, now, where}));
  return VerifiedOther{.statement = std::move(some.statement),
                       .signed_by = std::move(counted.signed_by),
                       .threshold = counted.threshold};
}

Result<std::vector<Verified>> VerifyFile(const fs::path& path, const TrustPolicy& policy,
                                         WallTime now) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostFileBytes));
  std::vector<Verified> all;
  const auto add = [&](std::string_view one, const std::string& where) -> Status {
    ASSIGN_OR_RETURN(Verified verified, VerifyStatement(one, where, policy, now));
    all.push_back(std::move(verified));
    return {};
  };
  if (!path.native().ends_with(".jsonl")) {
    RETURN_IF_ERROR(add(text, path.string()));
    return all;
  }
  std::string_view rest = text;
  for (int line = 1; !rest.empty(); ++line) {
    const auto end = rest.find('\n');
    const std::string_view one = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    if (one.find_first_not_of(" \t\r") == one.npos) continue;
    RETURN_IF_ERROR(add(one, fmt::format("{}:{}", path.string(), line)));
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

Result<Verified> VerifyEndorsed(const fs::path& file, const TrustPolicy& policy, WallTime now) {
  const fs::path bundle = EndorsementPath(file);
  std::error_code error;
  if (!fs::exists(fs::symlink_status(bundle, error))) {
    return IntegrityError(fmt::format("nobody has signed it: there is no {}; `rharness attest "
                                      "FILE --key KEY` makes one",
                                      bundle.string()),
                          file.string());
  }
  ASSIGN_OR_RETURN(std::vector<Verified> all, VerifyFile(bundle, policy, now));
  ASSIGN_OR_RETURN(const FileDigest digest, HashFile(file));
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    const Endorsement* endorsement = one->endorsement();
    if (endorsement != nullptr &&
        endorsement->file == SignedSubject{file.filename().string(), digest.sha256}) {
      return std::move(*one);
    }
  }
  return IntegrityError(
      fmt::format("has sha256 {}, which under this name is not what {} was signed for",
                  digest.sha256, bundle.string()),
      file.string());
}

Result<HeldSubjects> HoldToFiles(const Verified& verified, const fs::path& folder_or_file) {
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
