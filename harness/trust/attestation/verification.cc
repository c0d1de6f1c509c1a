// Signatures, rules and files, in the order in which each makes the next worth reading.
#include "harness/trust/attestation/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <system_error>
#include <utility>

#include "harness/base/files.h"
#include "harness/trust/attestation/envelope.h"
#include "harness/trust/attestation/model_bundle.h"

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

// The signers that count for the rule, and why the others do not.
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

// The parts of a statement that a rule needs.
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
  // A clock that is set back during a drill makes no forgery.
  if (verdict.decided + kClockSkew < verdict.started) {
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

// A statement signed by some keys of the policy; which of them count is not decided yet.
struct SignedBySome {
  SignedStatement statement;
  std::vector<std::size_t> signing;  // in TrustPolicy::keys
};

struct Asking {
  const TrustPolicy& policy;
  WallTime now;
  const std::string& where;
  std::size_t enough;          // so many keys suffice, if the rule asks for more
  bool* lacks_keys = nullptr;  // set if the only fault is missing signatures
};

Error LacksKeys(const Asking& asking, Error error) {
  if (asking.lacks_keys != nullptr) *asking.lacks_keys = true;
  return error;
}

Result<SignedBySome> OpenSigned(const SignedText& signed_text, const Asking& asking) {
  const std::string& where = asking.where;
  const SignedEnvelope& envelope = signed_text.envelope;
  std::vector<std::size_t> signing = SigningKeys(envelope, asking.policy);
  if (signing.empty()) return LacksKeys(asking, NoSignature(envelope, where));
  RETURN_IF_ERROR(CheckHint(signed_text.hint, signing, asking.policy, where));
  if (envelope.payload_type != kStatementPayload) {
    return IntegrityError(fmt::format("payloadType '{}'; expected {}", Shown(envelope.payload_type),
                                      kStatementPayload),
                          where);
  }
  ASSIGN_OR_RETURN(SignedStatement statement, ParseStatement(envelope.payload, where));
  return SignedBySome{std::move(statement), std::move(signing)};
}

struct EnoughKeys {
  std::vector<AcceptedKey> signed_by;
  std::size_t threshold = 1;
  std::size_t rule = 0;
};

// Whether enough of them may sign this about that family, at its stated time.
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
    return LacksKeys(
        asking,
        IntegrityError(
            fmt::format("{} of the {} keys that must have signed{}{}", counted.keys.size(),
                        rule->threshold,
                        family.empty() ? "" : fmt::format(" for family '{}'", Shown(family)),
                        counted.others),
            asking.where));
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
  if (name.ends_with(".intoto.jsonl") || name.ends_with(kModelBundle)) return true;
  if (!name.ends_with(".json")) return false;
  const auto text = ReadFile(path, kMostEnvelopeBytes);
  const auto json = text.ok() ? ParseJson(*text, name) : Result<Json>(text.error());
  if (!json.ok()) return false;
  return json->Find("dsseEnvelope") != nullptr ||
         (json->Find("payloadType") != nullptr && json->Find("payload") != nullptr);
}

Result<Verified> VerifySigned(const SignedText& signed_text, const Asking& asking) {
  ASSIGN_OR_RETURN(const SignedBySome some, OpenSigned(signed_text, asking));
  ASSIGN_OR_RETURN(Claim claim, ReadClaim(some.statement, asking.where, asking.now));
  ASSIGN_OR_RETURN(EnoughKeys counted, HoldToRule(some, claim.family, claim.time, asking));
  return Verified{.said = std::move(claim.said),
                  .signed_by = std::move(counted.signed_by),
                  .threshold = counted.threshold,
                  .rule = counted.rule};
}

Result<Verified> Verify(std::string_view text, std::string_view place, const TrustPolicy& policy,
                        WallTime now, std::size_t enough) {
  const std::string where(place);
  ASSIGN_OR_RETURN(const SignedText signed_text, ParseSigned(text, where));
  return VerifySigned(signed_text, {policy, now, where, enough});
}

// Some of its signatures are by keys that the policy does not know, and none is a wrong one in the
// name of a key that it does.
bool IsOfStrangers(const SignedText& signed_text, const TrustPolicy& policy) {
  bool some = false;
  for (const EnvelopeSignature& one : signed_text.envelope.signatures) {
    const SignedEnvelope alone{
        signed_text.envelope.payload_type, signed_text.envelope.payload, {one}};
    if (!SigningKeys(alone, policy).empty()) continue;
    const bool named = std::ranges::any_of(policy.keys, [&](const TrustedKey& key) {
      return one.key_id == key.key.id() ||
             (!signed_text.hint.empty() && signed_text.hint == BundleHint(key.key));
    });
    if (named) return false;
    some = true;
  }
  return some;
}

// Turns a line of a file into a statement or into a reason to ignore it.
Status SortLine(std::string_view text, const std::string& where, const TrustPolicy& policy,
                WallTime now, VerifiedFile* file) {
  ASSIGN_OR_RETURN(const SignedText signed_text, ParseSigned(text, where));
  bool lacks_keys = false;
  auto verified = VerifySigned(signed_text, {policy, now, where, kMostSignatures, &lacks_keys});
  if (verified.ok()) {
    file->statements.push_back(std::move(*verified));
    return {};
  }
  if (!lacks_keys || !IsOfStrangers(signed_text, policy)) return verified.error();
  file->not_counted.push_back(verified.error());
  return {};
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
  ASSIGN_OR_RETURN(const SignedText signed_text, ParseSigned(text, where));
  const Asking asking{policy, now, where, kMostSignatures};
  ASSIGN_OR_RETURN(SignedBySome some, OpenSigned(signed_text, asking));
  if (some.statement.predicate_type != predicate) {
    return IntegrityError(fmt::format("predicateType '{}'; expected {}",
                                      Shown(some.statement.predicate_type), predicate),
                          where);
  }
  const auto time = time_of(some.statement);
  if (!time.ok()) return Error{time.error().code, time.error().message, where};
  ASSIGN_OR_RETURN(EnoughKeys counted, HoldToRule(some, "", *time, asking));
  return VerifiedOther{.statement = std::move(some.statement),
                       .signed_by = std::move(counted.signed_by),
                       .threshold = counted.threshold};
}

Result<VerifiedFile> VerifyFile(const fs::path& path, const TrustPolicy& policy, WallTime now) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostFileBytes));
  VerifiedFile file;
  if (!path.native().ends_with(".jsonl")) {
    RETURN_IF_ERROR(SortLine(text, path.string(), policy, now, &file));
  } else {
    for (const auto& [number, line] : EnvelopeLines(text)) {
      RETURN_IF_ERROR(
          SortLine(line, fmt::format("{}:{}", path.string(), number), policy, now, &file));
    }
  }
  if (!file.statements.empty()) return file;
  if (!file.not_counted.empty()) return file.not_counted.front();
  return IntegrityError("holds no envelope; expected one a line", path.string());
}

Result<std::vector<fs::path>> FindAttestations(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) return NotFound("is not there", path.string());
  if (!fs::is_directory(status)) return std::vector<fs::path>{path};
  std::vector<fs::path> found;
  fs::recursive_directory_iterator entry(path, error);
  while (!error && entry != fs::recursive_directory_iterator()) {
    // A link, a pipe or a folder of such a name counts: what cannot be verified is refused.
    if (NamesAttestation(entry->path())) found.push_back(entry->path());
    entry.increment(error);
  }
  if (error) return IoError("cannot be listed: " + error.message(), path.string());
  if (found.empty()) {
    return NotFound("has no attestation below it; expected *.intoto.jsonl or *.sigstore.json",
                    path.string());
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace rharness
