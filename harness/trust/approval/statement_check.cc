// Checks statements of the history against the trust policy.
#include "harness/trust/approval/statement_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <variant>

#include "harness/base/files.h"
#include "harness/trust/attestation/verification.h"

namespace rharness {

namespace {

// One signature is of the person that the history names, by a key that was valid at its entry.
Status HoldToRow(const SignedRecord& row, const Verified& verified, const std::string& where,
                 const Question& question) {
  const AcceptedKey& key = verified.signed_by.front();
  const auto known = std::ranges::find(question.trust->keys, key.name, &TrustedKey::name);
  if (known == question.trust->keys.end() || !known->HoldsAt(row.entered)) {
    return IntegrityError(fmt::format("key '{}' did not hold at {}, when it signed", key.name,
                                      FormatTime(row.entered)),
                          where);
  }
  if (row.signed_by == key.owner) return {};
  return IntegrityError(fmt::format("the history names {} for a signature of {}",
                                    TerminalSafe(row.signed_by), TerminalSafe(key.owner)),
                        where);
}

// One key is enough, whatever the rule requires: it deletes or retires nothing.
Status HoldWithdrawal(const GatheredStatement& gathered, const Question& question) {
  const std::string where = gathered.where();
  ASSIGN_OR_RETURN(const Verified back, VerifyUnfinished(gathered.withdrawal->envelope, where,
                                                         *question.trust, question.now));
  const auto* said = std::get_if<Withdrawal>(&back.said);
  if (said == nullptr || said->statement.sha256 != gathered.sha256) {
    return IntegrityError("what takes it back was signed for something else", where);
  }
  return HoldToRow(*gathered.withdrawal, back, where, question);
}

}  // namespace

Status HoldToTrust(const GatheredStatement& gathered, const SignedEnvelope& envelope,
                   const Question& question, bool finished) {
  const std::string where = gathered.where();
  if (gathered.withdrawal) {
    RETURN_IF_ERROR(HoldWithdrawal(gathered, question));
    if (!finished) return {};
  }
  for (const SignedRecord& row : gathered.rows) {
    ASSIGN_OR_RETURN(const Verified one,
                     VerifyUnfinished(row.envelope, where, *question.trust, question.now));
    RETURN_IF_ERROR(HoldToRow(row, one, where, question));
  }
  if (!finished) return {};
  ASSIGN_OR_RETURN(const Verified all,
                   VerifyStatement(WriteEnvelope(envelope), where, *question.trust, question.now));
  if (all.people() > 1) return {};
  return IntegrityError("one person signed it, by whatever keys; it takes two", where);
}

Status HoldToClock(const GatheredStatement& gathered, WallTime requested, WallTime now) {
  constexpr auto kClockSkew = std::chrono::minutes(10);
  if (requested > now + kClockSkew) {
    return IntegrityError(
        fmt::format("was asked for at {}; it is {} now", FormatTime(requested), FormatTime(now)),
        gathered.where());
  }
  for (const SignedRecord& row : gathered.rows) {
    if (row.entered > now + kClockSkew) {
      return IntegrityError(
          fmt::format("the history says that {} signed at {}; it is {} now",
                      TerminalSafe(row.signed_by), FormatTime(row.entered), FormatTime(now)),
          gathered.where());
    }
    if (row.entered + kClockSkew < requested) {
      return IntegrityError(
          fmt::format("the history says that {} signed at {}; it was asked for at {}",
                      TerminalSafe(row.signed_by), FormatTime(row.entered), FormatTime(requested)),
          gathered.where());
    }
  }
  return {};
}

std::size_t PeopleOf(const GatheredStatement& gathered) {
  std::set<std::string> owners;
  for (const SignedRecord& row : gathered.rows) owners.insert(OwnerKey(row.signed_by));
  return owners.size();
}

std::string ApproversOf(const GatheredStatement& gathered) {
  std::string text;
  for (std::size_t i = 1; i < gathered.rows.size(); ++i) {
    text += (text.empty() ? "" : ", ") + gathered.rows[i].signed_by;
  }
  return text;
}

}  // namespace rharness
