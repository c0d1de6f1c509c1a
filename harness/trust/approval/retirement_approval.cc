// Asking for a retirement, approving it, and taking it back: a signature more each.
#include "harness/trust/approval/retirement_approval.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/trust/approval/retirement_records.h"
#include "harness/trust/approval/signing.h"
#include "reports/text.h"

namespace rharness {
namespace {

Result<std::vector<GatheredStatement>> StatementsOf(const std::string& run_id,
                                                    HistoryStore* store) {
  ASSIGN_OR_RETURN(auto rows, store->SignedOf(kRetirementPredicate, run_id));
  ASSIGN_OR_RETURN(const auto withdrawals, store->Signed(kWithdrawalPredicate));
  GatheredStatements gathered = Gather(std::move(rows), withdrawals);
  return std::move(gathered[run_id]);
}

// The request that a signature is for, as two people see it: about this run.
struct OpenRequest {
  GatheredStatement gathered;
  SignedEnvelope envelope;
  Retirement said;
};

Result<OpenRequest> FindOpen(const std::string& run_id, HistoryStore* store) {
  ASSIGN_OR_RETURN(const HistoryEntry entry, store->Find(run_id));
  ASSIGN_OR_RETURN(const Manifest manifest, store->Get(run_id));
  ASSIGN_OR_RETURN(std::vector<GatheredStatement> all, StatementsOf(run_id, store));
  const std::string where = "run " + TerminalSafe(run_id);
  if (entry.retirement) {
    return InvalidInput(fmt::format("is retired already, approved by {}",
                                    TerminalSafe(entry.retirement->approved_by)),
                        where);
  }
  if (all.empty()) {
    return NotFound("nobody asked for its retirement; `rharness history retire request` does",
                    where);
  }
  OpenRequest open{.gathered = std::move(all.back()), .envelope = {}, .said = {}};
  if (open.gathered.withdrawal) {
    return InvalidInput(fmt::format("was taken back by {} at {}; it has to be asked for anew",
                                    TerminalSafe(open.gathered.withdrawal->signed_by),
                                    FormatTime(open.gathered.withdrawal->entered)),
                        open.gathered.where());
  }
  const std::string statement = open.gathered.where();
  ASSIGN_OR_RETURN(open.envelope, Combine(open.gathered));
  ASSIGN_OR_RETURN(open.said, ReadUnverified(open.envelope, statement));
  RETURN_IF_ERROR(HoldToRun(open.said, manifest, statement));
  return open;
}

}  // namespace

Result<RetirementTold> RequestRetirement(const std::string& run_id, const std::string& reason,
                                         WallTime expires, const SigningPerson& person,
                                         HistoryStore* store) {
  const std::string where = "run " + TerminalSafe(run_id);
  ASSIGN_OR_RETURN(const HistoryEntry entry, store->Find(run_id));
  ASSIGN_OR_RETURN(const Manifest manifest, store->Get(run_id));
  if (reason.empty()) return InvalidInput("retiring a run needs a reason", where);
  const Retirement asked{.run_id = run_id,
                         .family = manifest.family,
                         .manifest = ManifestSubject(manifest),
                         .reason = SafeText(reason, kMostReasonBytes),
                         .requested = person.now,
                         .expires = expires};
  if (expires <= person.now) return InvalidInput("would be over before it begins", where);
  if (entry.retirement || (entry.retired && *entry.retired != asked.reason)) {
    return InvalidInput(fmt::format("is retired already: {}", SafeText(*entry.retired)), where);
  }
  ASSIGN_OR_RETURN(const RetirementTold before,
                   RetirementOf(run_id, person.trust, person.now, store));
  if (before.state == RetirementState::kAsked) {
    return InvalidInput(
        fmt::format("was asked for already, by {}; `rharness history retire approve` is for "
                    "somebody else",
                    TerminalSafe(before.asked_by)),
        where);
  }
  ASSIGN_OR_RETURN(const NewSignature made,
                   AskAs(person, {kRetirementPredicate, manifest.family},
                         ToJson(RetirementStatement(asked)).Dump(), where));
  RETURN_IF_ERROR(store->AddSigned(
      RowOf(made.envelope, made.envelope.signatures[0], run_id, made.key, person.now)));
  return RetirementOf(run_id, person.trust, person.now, store);
}

Result<RetirementTold> ApproveRetirement(const std::string& run_id, const SigningPerson& person,
                                         HistoryStore* store) {
  ASSIGN_OR_RETURN(OpenRequest open, FindOpen(run_id, store));
  const std::string where = open.gathered.where();
  ASSIGN_OR_RETURN(const Verified verified, VerifyUnfinished(WriteEnvelope(open.envelope), where,
                                                             *person.trust, person.now));
  if (person.now >= open.said.expires) {
    return InvalidInput(fmt::format("could be approved until {}; it has to be asked for anew",
                                    FormatTime(open.said.expires)),
                        where);
  }
  ASSIGN_OR_RETURN(const Approval approval,
                   SignUnder(open.envelope, verified.people(), person, where));
  const SignedEnvelope& made = approval.added.envelope;
  const SignedRecord row = RowOf(made, made.signatures[0], run_id, approval.added.key, person.now);
  // More than two, where the rule wants that.
  if (!approval.finished) {
    RETURN_IF_ERROR(store->AddSigned(row));
    return RetirementOf(run_id, person.trust, person.now, store);
  }
  const std::string& asked_by = open.gathered.rows.front().signed_by;
  const SignedRetirement retirement{.statement_sha256 = open.gathered.sha256,
                                    .asked_by = asked_by,
                                    .asked = open.said.requested,
                                    .approved_by = OthersThan(asked_by, approval.verified),
                                    .approved = person.now};
  RETURN_IF_ERROR(store->RetireSigned(row, open.said.reason, retirement));
  return RetirementOf(run_id, person.trust, person.now, store);
}

Result<RetirementTold> WithdrawRetirement(const std::string& run_id, const std::string& reason,
                                          const SigningPerson& person, HistoryStore* store) {
  if (reason.empty()) {
    return InvalidInput("taking it back needs a reason", "run " + TerminalSafe(run_id));
  }
  // Regardless of the signer: a withdrawn request retires nothing.
  ASSIGN_OR_RETURN(const OpenRequest open, FindOpen(run_id, store));
  const Withdrawal withdrawal{.run_id = run_id,
                              .family = open.said.family,
                              .statement = {run_id + ".retirement", open.gathered.sha256},
                              .reason = SafeText(reason, kMostReasonBytes),
                              .withdrawn = person.now};
  ASSIGN_OR_RETURN(
      const NewSignature made,
      SignAs(person, ToJson(WithdrawalStatement(withdrawal)).Dump(), open.gathered.where()));
  RETURN_IF_ERROR(store->AddWithdrawal(RowOf(made.envelope, made.envelope.signatures[0],
                                             open.gathered.sha256, made.key, person.now)));
  return RetirementOf(run_id, person.trust, person.now, store);
}

}  // namespace rharness
