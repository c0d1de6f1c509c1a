// Signatures, rules and files, in the order in which each makes the next worth reading.
#include "harness/attestation/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <system_error>
#include <utility>

#include "harness/attestation/envelope.h"
#include "harness/attestation/model_bundle.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr auto kClockSkew = std::chrono::minutes(10);
constexpr std::uint64_t kMostFileBytes = std::uint64_t{256} << 20;

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
  decltype(Verified::said) said;
  std::string family;
  WallTime time{};  // when it was said
};

Result<Claim> ReadClaim(const SignedStatement& statement, const std::string& where, WallTime now) {
  Claim claim;
  if (statement.predicate_type == kModelPredicate) {
    ASSIGN_OR_RETURN(claim.said, ReadModelStatement(statement, where));
    claim.time = now;
    return claim;
  }
  if (statement.predicate_type == kEndorsementPredicate) {
    ASSIGN_OR_RETURN(Endorsement endorsement, ReadEndorsement(statement, where));
    claim.time = endorsement.made;
    claim.said = std::move(endorsement);
    return claim;
  }
  if (statement.predicate_type == kRetirementPredicate) {
    ASSIGN_OR_RETURN(Retirement retirement, ReadRetirement(statement, where));
    return Claim{retirement, retirement.family, retirement.requested};
  }
  if (statement.predicate_type == kWithdrawalPredicate) {
    ASSIGN_OR_RETURN(Withdrawal withdrawal, ReadWithdrawal(statement, where));
    return Claim{withdrawal, withdrawal.family, withdrawal.withdrawn};
  }
  if (statement.predicate_type == kDeletionPredicate) {
    ASSIGN_OR_RETURN(Deletion deletion, ReadDeletion(statement, where));
    return Claim{deletion, {}, deletion.requested};
  }
  if (statement.predicate_type != kVerdictPredicate) {
    return IntegrityError(
        fmt::format("predicateType '{}'; expected {}, {} or {}, or one of approvals",
                    Shown(statement.predicate_type), kVerdictPredicate, kEndorsementPredicate,
                    kModelPredicate),
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

// An envelope, and of one in a bundle the hint at its key.
struct SignedText {
  SignedEnvelope envelope;
  std::string hint;
};

Result<SignedText> ParseSigned(std::string_view text, const std::string& where) {
  const auto json =
      text.size() > kMostEnvelopeBytes ? Result<Json>(Json()) : ParseJson(text, where);
  if (json.ok() && IsBundle(*json)) {
    ASSIGN_OR_RETURN(SigstoreBundle bundle, ReadBundle(*json, where));
    return SignedText{std::move(bundle.envelope), std::move(bundle.hint)};
  }
  ASSIGN_OR_RETURN(SignedEnvelope envelope, ParseEnvelope(text, where));
  return SignedText{std::move(envelope), ""};
}

Status CheckHint(const std::string& hint, const std::vector<std::size_t>& signing,
                 const TrustPolicy& policy, const std::string& where) {
  const auto is_of = [&](std::size_t at) { return BundleHint(policy.keys[at].key) == hint; };
  if (hint.empty() || std::ranges::any_of(signing, is_of)) return {};
  return IntegrityError(
      fmt::format("its publicKey.hint is {}; '{}' signed it, which has {}", Shown(hint),
                  policy.keys[signing[0]].name, BundleHint(policy.keys[signing[0]].key)),
      where);
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
  ASSIGN_OR_RETURN(const SignedText signed_text, ParseSigned(text, where));
  const SignedEnvelope& envelope = signed_text.envelope;
  std::vector<std::size_t> signing = SigningKeys(envelope, policy);
  if (signing.empty()) return NoSignature(envelope, where);
  RETURN_IF_ERROR(CheckHint(signed_text.hint, signing, policy, where));
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
  std::size_t enough;  // so many keys are, where the rule asks for more
};
struct EnoughKeys {
  std::vector<AcceptedKey> signed_by;
  std::size_t threshold = 1;
  std::size_t rule = 0;
};

// Whether enough of them may sign this about that family, said at that time.
Result<EnoughKeys> HoldToRule(const SignedBySome& some, const std::string& family, WallTime said,
                              const Asking& asking) {
  RETURN_IF_ERROR(CheckTime(said, asking.where, asking.now));
  const TrustRule* rule = asking.policy.FindRule(some.statement.predicate_type, family);
  if (rule == nullptr) {
    return IntegrityError(fmt::format("no rule of the policy is for {} about family '{}'",
                                      some.statement.predicate_type, Shown(family)),
                          asking.where);
  }
  const CountedKeys counted = CountFor(*rule, some.signing, asking.policy, said);
  if (counted.keys.size() < std::min(rule->threshold, asking.enough)) {
    return IntegrityError(
        fmt::format(
            "{} of the {} keys that must have signed{}{}", counted.keys.size(), rule->threshold,
            family.empty() ? "" : fmt::format(" for family '{}'", Shown(family)), counted.others),
        asking.where);
  }
  EnoughKeys enough{.signed_by = {},
                    .threshold = rule->threshold,
                    .rule = static_cast<std::size_t>(rule - asking.policy.rules.data())};
  for (const std::size_t at : counted.keys) {
    const TrustedKey& key = asking.policy.keys[at];
    enough.signed_by.push_back({key.name, key.owner, key.key.id()});
  }
  return enough;
}

bool NamesAttestation(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.ends_with(".intoto.jsonl")) return true;
  if (!name.ends_with(".json")) return false;
  const auto text = ReadFile(path, kMostEnvelopeBytes);
  const auto json = text.ok() ? ParseJson(*text, name) : Result<Json>(text.error());
  if (!json.ok()) return false;
  return json->Find("dsseEnvelope") != nullptr ||
         (json->Find("payloadType") != nullptr && json->Find("payload") != nullptr);
}

Result<Verified> Verify(std::string_view text, std::string_view place, const TrustPolicy& policy,
                        WallTime now, std::size_t enough) {
  const std::string where(place);
  ASSIGN_OR_RETURN(const SignedBySome some, OpenSigned(text, where, policy));
  ASSIGN_OR_RETURN(Claim claim, ReadClaim(some.statement, where, now));
  ASSIGN_OR_RETURN(EnoughKeys counted,
                   HoldToRule(some, claim.family, claim.time, {policy, now, where, enough}));
  return Verified{.said = std::move(claim.said),
                  .signed_by = std::move(counted.signed_by),
                  .threshold = counted.threshold,
                  .rule = counted.rule};
}

}  // namespace

std::string SignersText(const std::vector<AcceptedKey>& keys) {
  std::string text;
  for (const AcceptedKey& key : keys) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", key.name, key.owner);
  }
  return text;
}

std::string OwnerKey(std::string_view owner) {
  std::string key;
  for (const char c : owner) {
    if (c == ' ' || c == '\t') continue;
    key += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return key;
}

std::size_t Verified::people() const {
  std::set<std::string> owners;
  for (const AcceptedKey& key : signed_by) owners.insert(OwnerKey(key.owner));
  return owners.size();
}

Result<Verified> VerifyStatement(std::string_view text, std::string_view where,
                                 const TrustPolicy& policy, WallTime now) {
  return Verify(text, where, policy, now, kMostSignatures);
}

Result<Verified> VerifyUnfinished(std::string_view text, std::string_view where,
                                  const TrustPolicy& policy, WallTime now) {
  return Verify(text, where, policy, now, 1);
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
  ASSIGN_OR_RETURN(EnoughKeys counted,
                   HoldToRule(some, "", *time, {policy, now, where, kMostSignatures}));
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
  for (const auto& [number, line] : EnvelopeLines(text)) {
    RETURN_IF_ERROR(add(line, fmt::format("{}:{}", path.string(), number)));
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

}  // namespace rharness
