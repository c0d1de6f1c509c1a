// Checks the history's retirements against the signed statements.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/files.h"
#include "harness/trust/approval/retirement_approval.h"
#include "harness/trust/approval/retirement_records.h"
#include "harness/trust/approval/statement_check.h"

namespace rharness {
namespace {

// Compares the statement with the run that it retires. Errors: integrity for the first difference.
Status HoldToRecord(const HistoryEntry& entry, const GatheredStatement& gathered,
                    const Retirement& said) {
  const std::string where = gathered.where();
  const SignedRetirement& held = *entry.retirement;
  if (gathered.withdrawal) return IntegrityError("was taken back, and holds", where);
  if (PeopleOf(gathered) < 2) return IntegrityError("was signed by one person, and holds", where);
  if (*entry.retired != said.reason) {
    return IntegrityError(fmt::format("the history gives the reason '{}'; signed was '{}'",
                                      TerminalSafe(*entry.retired), TerminalSafe(said.reason)),
                          where);
  }
  if (held.asked != said.requested || held.asked_by != gathered.rows.front().signed_by) {
    return IntegrityError(
        fmt::format("the history says that {} asked at {}; signed was {}, by {}",
                    TerminalSafe(held.asked_by), FormatTime(held.asked), FormatTime(said.requested),
                    TerminalSafe(gathered.rows.front().signed_by)),
        where);
  }
  const SignedRecord& last = gathered.rows.back();
  if (held.approved != last.entered || held.approved_by != ApproversOf(gathered)) {
    return IntegrityError(
        fmt::format("the history says that {} approved at {}; signed have {}, at {}",
                    TerminalSafe(held.approved_by), FormatTime(held.approved),
                    TerminalSafe(ApproversOf(gathered)), FormatTime(last.entered)),
        where);
  }
  if (held.approved >= said.expires) {
    return IntegrityError("was approved after its time was over", where);
  }
  if (held.retired <= held.approved) return {};
  return IntegrityError(fmt::format("the history says that it was retired at {}, and approved at "
                                    "{}, which retires a run",
                                    FormatTime(held.retired), FormatTime(held.approved)),
                        where);
}

Status Check(const HistoryEntry& entry, const GatheredStatement& gathered, bool holds,
             const Question& question, HistoryStore* store, Retirement* said) {
  ASSIGN_OR_RETURN(const SignedEnvelope envelope, Combine(gathered));
  ASSIGN_OR_RETURN(*said, ReadUnverified(envelope, gathered.where()));
  ASSIGN_OR_RETURN(const Manifest manifest, store->Get(entry.run_id));
  RETURN_IF_ERROR(HoldToRun(*said, manifest, gathered.where()));
  if (holds) RETURN_IF_ERROR(HoldToRecord(entry, gathered, *said));
  RETURN_IF_ERROR(HoldToClock(gathered, said->requested, question.now));
  if (question.trust == nullptr) return {};
  return HoldToTrust(gathered, envelope, question, holds);
}

RetirementState StateOf(const GatheredStatement& gathered, const Retirement& said, bool holds,
                        WallTime now) {
  if (holds) return RetirementState::kRetired;
  if (gathered.withdrawal) return RetirementState::kWithdrawn;
  return now < said.expires ? RetirementState::kAsked : RetirementState::kExpired;
}

RetirementTold Doubtful(RetirementTold told, std::string doubt) {
  told.state = RetirementState::kDoubtful;
  told.doubt = std::move(doubt);
  return told;
}

// For one statement: the valid one, or the last one if none is.
Result<RetirementTold> TellStatement(const HistoryEntry& entry, const GatheredStatement& gathered,
                                     const Question& question, HistoryStore* store) {
  const bool holds = entry.retirement && entry.retirement->statement_sha256 == gathered.sha256;
  RetirementTold told;
  told.run_id = entry.run_id;
  told.statement_sha256 = gathered.sha256;
  told.asked_by = gathered.rows.front().signed_by;
  told.approved_by = ApproversOf(gathered);
  if (gathered.rows.size() > 1) told.approved = gathered.rows.back().entered;
  if (holds && entry.retirement->retired < entry.retirement->approved) {
    told.unsigned_since = entry.retirement->retired;
  }
  if (gathered.withdrawal) {
    told.ended_by = gathered.withdrawal->signed_by;
    told.ended = gathered.withdrawal->entered;
    told.ended_reason = ReasonOfWithdrawal(gathered);
  }
  Retirement said;
  const Status status = Check(entry, gathered, holds, question, store, &said);
  told.reason = said.reason;
  if (!said.run_id.empty()) {
    told.asked = said.requested;
    told.expires = said.expires;
  }
  if (!status.ok()) {
    if (status.error().code != ErrorCode::kIntegrity) return status.error();
    return Doubtful(std::move(told), status.error().ToString());
  }
  told.verified = question.trust != nullptr;
  told.state = StateOf(gathered, said, holds, question.now);
  return told;
}

// As many people as a retirement needs have signed, and the history contradicts that.
bool WasApproved(const GatheredStatement& gathered, const Question& question) {
  if (gathered.withdrawal || PeopleOf(gathered) < 2) return false;
  if (question.trust == nullptr) return true;
  const auto envelope = Combine(gathered);
  return envelope.ok() &&
         VerifyStatement(WriteEnvelope(*envelope), gathered.where(), *question.trust, question.now)
             .ok();
}

Result<RetirementTold> Tell(const HistoryEntry& entry,
                            const std::vector<GatheredStatement>& statements,
                            const Question& question, HistoryStore* store) {
  RetirementTold told;
  told.run_id = entry.run_id;
  if (entry.retirement) {
    const std::string& by = entry.retirement->statement_sha256;
    const auto holds = std::ranges::find(statements, by, &GatheredStatement::sha256);
    if (holds != statements.end()) return TellStatement(entry, *holds, question, store);
    told.reason = entry.retired.value_or("");
    told.statement_sha256 = by;
    return Doubtful(std::move(told), "the statement that it holds by is not in the history");
  }
  const auto approved = std::ranges::find_if(
      statements, [&](const GatheredStatement& one) { return WasApproved(one, question); });
  if (approved != statements.end() && (entry.retired || question.trust != nullptr)) {
    ASSIGN_OR_RETURN(told, TellStatement(entry, *approved, question, store));
    return Doubtful(std::move(told),
                    entry.retired ? "two people signed it, and the history holds it as unsigned"
                                  : "two people signed it, and the history holds no retirement");
  }
  if (statements.empty() || (entry.retired && statements.back().withdrawal)) {
    told.state = entry.retired ? RetirementState::kUnsigned : RetirementState::kNone;
    told.reason = entry.retired.value_or("");
    return told;
  }
  return TellStatement(entry, statements.back(), question, store);
}

}  // namespace

Result<std::vector<RetirementTold>> ListRetirements(const TrustPolicy* trust, WallTime now,
                                                    HistoryStore* store) {
  ASSIGN_OR_RETURN(auto rows, store->Signed(kRetirementPredicate));
  ASSIGN_OR_RETURN(const auto withdrawals, store->Signed(kWithdrawalPredicate));
  const GatheredStatements gathered = Gather(std::move(rows), withdrawals);
  ASSIGN_OR_RETURN(std::vector<HistoryEntry> entries, store->List(true));
  std::ranges::sort(entries, {}, &HistoryEntry::run_id);
  static const std::vector<GatheredStatement> none;
  std::vector<RetirementTold> all;
  for (const HistoryEntry& entry : entries) {
    const auto found = gathered.find(entry.run_id);
    if (!entry.retired && found == gathered.end()) continue;
    ASSIGN_OR_RETURN(
        RetirementTold told,
        Tell(entry, found == gathered.end() ? none : found->second, {trust, now}, store));
    all.push_back(std::move(told));
  }
  // What is signed of a run that is not there was entered by force.
  for (const auto& [run_id, statements] : gathered) {
    if (std::ranges::binary_search(entries, run_id, {}, &HistoryEntry::run_id)) continue;
    RetirementTold told;
    told.run_id = run_id;
    all.push_back(Doubtful(std::move(told), "is signed for, and is no run of the history"));
  }
  return all;
}

Result<RetirementTold> RetirementOf(const std::string& run_id, const TrustPolicy* trust,
                                    WallTime now, HistoryStore* store) {
  ASSIGN_OR_RETURN(const HistoryEntry entry, store->Find(run_id));
  ASSIGN_OR_RETURN(auto rows, store->SignedOf(kRetirementPredicate, run_id));
  ASSIGN_OR_RETURN(const auto withdrawals, store->Signed(kWithdrawalPredicate));
  GatheredStatements gathered = Gather(std::move(rows), withdrawals);
  return Tell(entry, gathered[run_id], {trust, now}, store);
}

Result<std::map<std::string, std::string>> RetirementDoubtsOf(
    const std::vector<HistoryEntry>& entries, WallTime now, HistoryStore* store) {
  std::map<std::string, std::string> doubts;
  if (std::ranges::none_of(entries,
                           [](const HistoryEntry& one) { return one.retired.has_value(); }))
    return doubts;
  ASSIGN_OR_RETURN(auto rows, store->Signed(kRetirementPredicate));
  ASSIGN_OR_RETURN(const auto withdrawals, store->Signed(kWithdrawalPredicate));
  GatheredStatements gathered = Gather(std::move(rows), withdrawals);
  for (const HistoryEntry& entry : entries) {
    if (!entry.retired) continue;
    ASSIGN_OR_RETURN(const RetirementTold told,
                     Tell(entry, gathered[entry.run_id], {nullptr, now}, store));
    if (told.state == RetirementState::kDoubtful) doubts.emplace(entry.run_id, told.doubt);
  }
  return doubts;
}

Result<bool> TakesTwoPeople(HistoryStore* store) {
  ASSIGN_OR_RETURN(auto rows, store->Signed(kRetirementPredicate));
  for (const auto& [run_id, statements] : Gather(std::move(rows), {})) {
    for (const GatheredStatement& one : statements) {
      if (PeopleOf(one) > 1) return true;
    }
  }
  return false;
}

}  // namespace rharness
