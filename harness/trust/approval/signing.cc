// Signing as a person of the trust policy.
#include "harness/trust/approval/signing.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/files.h"

namespace rharness {
namespace {

// The key must be valid now, whatever time the statement has.
Status HoldsNow(const AcceptedKey& key, const SigningPerson& person, const std::string& where) {
  const auto known = std::ranges::find(person.trust->keys, key.name, &TrustedKey::name);
  if (known != person.trust->keys.end() && known->HoldsAt(person.now)) return {};
  return InvalidInput(fmt::format("key '{}' of {} does not hold at {}", TerminalSafe(key.name),
                                  TerminalSafe(key.owner), FormatTime(person.now)),
                      where);
}

}  // namespace

Result<NewSignature> SignAs(const SigningPerson& person, std::string payload,
                            const std::string& where) {
  NewSignature made;
  made.envelope = {
      .payload_type = kStatementPayload, .payload = std::move(payload), .signatures = {}};
  RETURN_IF_ERROR(SignEnvelope(person.signer, &made.envelope));
  ASSIGN_OR_RETURN(const Verified verified, VerifyUnfinished(WriteEnvelope(made.envelope), where,
                                                             *person.trust, person.now));
  made.key = verified.signed_by.front();
  RETURN_IF_ERROR(HoldsNow(made.key, person, where));
  return made;
}

Result<NewSignature> AskAs(const SigningPerson& person, const AskedFor& asked, std::string payload,
                           const std::string& where) {
  ASSIGN_OR_RETURN(NewSignature made, SignAs(person, std::move(payload), where));
  const TrustPolicy& trust = *person.trust;
  const TrustRule* rule = trust.FindRule(asked.predicate, asked.family);
  if (rule == nullptr) Abort("signed under no rule");  // SignAs refuses that
  const bool others = std::ranges::any_of(rule->keys, [&](std::size_t at) {
    const TrustedKey& key = trust.keys[at];
    return OwnerKey(key.owner) != OwnerKey(made.key.owner) && key.HoldsAt(person.now);
  });
  if (others) return made;
  return InvalidInput(
      fmt::format(
          "nobody could approve it: rule {} of the trust policy is the first for {}{}, and "
          "names no key that holds now but those of {}; put a rule before it, such as "
          "{{predicates: [\"{}\"], keys: [...]}} with somebody else's key",
          rule - trust.rules.data() + 1, asked.predicate,
          asked.family.empty() ? "" : fmt::format(" of family '{}'", TerminalSafe(asked.family)),
          TerminalSafe(made.key.owner), asked.predicate),
      where);
}

Result<Approval> SignUnder(SignedEnvelope envelope, std::size_t people, const SigningPerson& person,
                           const std::string& where) {
  Approval approval;
  ASSIGN_OR_RETURN(approval.added, SignAs(person, envelope.payload, where));
  envelope.signatures.push_back(approval.added.envelope.signatures[0]);
  const std::string text = WriteEnvelope(envelope);
  ASSIGN_OR_RETURN(approval.verified, VerifyUnfinished(text, where, *person.trust, person.now));
  if (approval.verified.people() == people) {
    return InvalidInput(
        fmt::format("{} has signed it already, by whatever key; somebody else has to approve",
                    TerminalSafe(approval.added.key.owner)),
        where);
  }
  approval.finished = VerifyStatement(text, where, *person.trust, person.now).ok();
  return approval;
}

std::string OthersThan(const std::string& asked_by, const Verified& verified) {
  std::string text;
  for (const AcceptedKey& key : verified.signed_by) {
    if (OwnerKey(key.owner) == OwnerKey(asked_by)) continue;
    text += (text.empty() ? "" : ", ") + key.owner;
  }
  return text;
}

}  // namespace rharness
