// Asking for a deletion, approving it and taking it back; and what became of each.
#include "harness/approval/deletion_approval.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "harness/approval/retirement_records.h"
#include "harness/approval/signing.h"
#include "harness/approval/statement_check.h"
#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "reports/text.h"

namespace rharness {
namespace {

std::string Where(const std::string& list_sha256) {
  return "deletion list " + TerminalSafe(list_sha256.substr(0, 64));
}

Result<GatheredStatements> AllStatements(HistoryStore* store) {
  ASSIGN_OR_RETURN(auto rows, store->Signed(kDeletionPredicate));
  ASSIGN_OR_RETURN(const auto withdrawals, store->Signed(kWithdrawalPredicate));
  return Gather(std::move(rows), withdrawals);
}

struct Request {
  GatheredStatement gathered;
  SignedEnvelope envelope;
  Deletion said;
};

// The last request for this list. Errors: not_found; integrity where it is not what was signed.
Result<Request> FindRequest(const std::string& list_sha256, HistoryStore* store) {
  ASSIGN_OR_RETURN(GatheredStatements all, AllStatements(store));
  const auto found = all.find(list_sha256);
  if (found == all.end()) {
    return NotFound("nobody asked for its deletion; `rharness retention request` does",
                    Where(list_sha256));
  }
  Request request{.gathered = std::move(found->second.back()), .envelope = {}, .said = {}};
  const std::string where = request.gathered.where();
  ASSIGN_OR_RETURN(request.envelope, Combine(request.gathered));
  ASSIGN_OR_RETURN(const SignedStatement statement,
                   ParseStatement(request.envelope.payload, where));
  ASSIGN_OR_RETURN(request.said, ReadDeletion(statement, where));
  if (request.said.list.sha256 == list_sha256) return request;
  return IntegrityError("was signed for the list " + request.said.list.sha256, where);
}

// How far a list was carried out.
struct Progress {
  bool begun = false;
  std::uint64_t ended = 0;
  std::uint64_t gone = 0;
  std::uint64_t stays = 0;
};
Result<Progress> ProgressOf(const std::string& list_sha256, HistoryStore* store) {
  ASSIGN_OR_RETURN(const auto deletions, store->Deletions());
  Progress progress;
  progress.begun =
      std::ranges::find(deletions, list_sha256, &DeletionRecord::list_sha256) != deletions.end();
  if (!progress.begun) return progress;
  ASSIGN_OR_RETURN(const auto steps, store->DeletedItems(list_sha256));
  for (const DeletedItem& step : steps) {
    if (step.step == DeletionStep::kAbout) continue;
    ++progress.ended;
    if (step.step == DeletionStep::kGone) ++progress.gone;
    if (step.step == DeletionStep::kStays) ++progress.stays;
  }
  return progress;
}

std::string StateOf(const Request& request, const Progress& progress, WallTime now) {
  if (progress.begun) return progress.ended >= request.said.items ? "done" : "begun";
  if (request.gathered.withdrawal) return "withdrawn";
  if (now >= request.said.expires) return "expired";
  return PeopleOf(request.gathered) > 1 ? "approved" : "asked";
}

Result<DeletionTold> TellRequest(const std::string& list_sha256, const Question& question,
                                 HistoryStore* store) {
  ASSIGN_OR_RETURN(const Request request, FindRequest(list_sha256, store));
  ASSIGN_OR_RETURN(const Progress progress, ProgressOf(list_sha256, store));
  DeletionTold told{.list_sha256 = list_sha256,
                    .state = StateOf(request, progress, question.now),
                    .reason = request.said.reason,
                    .asked_by = request.gathered.rows.front().signed_by,
                    .asked = FormatTime(request.said.requested),
                    .approved_by = ApproversOf(request.gathered),
                    .expires = FormatTime(request.said.expires),
                    .items = request.said.items,
                    .bytes = request.said.bytes,
                    .deleted = progress.gone,
                    .stays = progress.stays,
                    .ended_by = {},
                    .ended_reason = ReasonOfWithdrawal(request.gathered),
                    .doubt = {}};
  if (request.gathered.withdrawal) told.ended_by = request.gathered.withdrawal->signed_by;
  if (question.trust == nullptr) return told;
  const bool finished = told.state == "approved" || progress.begun;
  RETURN_IF_ERROR(HoldToTrust(request.gathered, request.envelope, question, finished));
  return told;
}

DeletionTold Doubtful(const std::string& list_sha256, const Error& error) {
  DeletionTold told{.list_sha256 = list_sha256};
  told.state = "doubtful";
  told.doubt = error.ToString();
  return told;
}

Status RequireOpen(const Request& request, WallTime now) {
  const std::string where = request.gathered.where();
  if (request.gathered.withdrawal) {
    return InvalidInput(fmt::format("was taken back by {} at {}; it has to be asked for anew",
                                    TerminalSafe(request.gathered.withdrawal->signed_by),
                                    FormatTime(request.gathered.withdrawal->entered)),
                        where);
  }
  if (now < request.said.expires) return {};
  return InvalidInput(fmt::format("could be approved and carried out until {}; it has to be asked "
                                  "for anew",
                                  FormatTime(request.said.expires)),
                      where);
}

}  // namespace

Result<DeletionTold> RequestDeletion(const DeletionList& list, const std::string& reason,
                                     WallTime expires, const SigningPerson& person,
                                     HistoryStore* store) {
  const std::string digest = DigestOf(list);
  const std::string where = Where(digest);
  if (list.items.empty()) return InvalidInput("names nothing to delete", where);
  if (reason.empty()) return InvalidInput("deleting needs a reason", where);
  if (expires <= person.now) return InvalidInput("would be over before it begins", where);
  const auto before = TellRequest(digest, {person.trust, person.now}, store);
  if (!before.ok() && before.error().code != ErrorCode::kNotFound) return before.error();
  if (before.ok() && (before->state == "asked" || before->state == "approved")) {
    return InvalidInput(fmt::format("was asked for already, by {}", TerminalSafe(before->asked_by)),
                        where);
  }
  const Deletion asked{.list = {kDeletionListName, digest},
                       .items = list.items.size(),
                       .bytes = list.bytes(),
                       .reason = SafeText(reason, kMostReasonBytes),
                       .requested = person.now,
                       .expires = expires};
  ASSIGN_OR_RETURN(const NewSignature made,
                   SignAs(person, ToJson(DeletionStatement(asked)).Dump(), where));
  RETURN_IF_ERROR(store->AddSigned(
      RowOf(made.envelope, made.envelope.signatures[0], digest, made.key, person.now)));
  return TellRequest(digest, {person.trust, person.now}, store);
}

Result<DeletionTold> ApproveDeletion(const std::string& list_sha256, const SigningPerson& person,
                                     HistoryStore* store) {
  ASSIGN_OR_RETURN(const Request request, FindRequest(list_sha256, store));
  const std::string where = request.gathered.where();
  RETURN_IF_ERROR(RequireOpen(request, person.now));
  ASSIGN_OR_RETURN(const Verified verified, VerifyUnfinished(WriteEnvelope(request.envelope), where,
                                                             *person.trust, person.now));
  ASSIGN_OR_RETURN(const Approval approval,
                   SignUnder(request.envelope, verified.people(), person, where));
  const SignedEnvelope& made = approval.added.envelope;
  RETURN_IF_ERROR(store->AddSigned(
      RowOf(made, made.signatures[0], list_sha256, approval.added.key, person.now)));
  return TellRequest(list_sha256, {nullptr, person.now}, store);
}

Result<DeletionTold> WithdrawDeletion(const std::string& list_sha256, const std::string& reason,
                                      const SigningPerson& person, HistoryStore* store) {
  ASSIGN_OR_RETURN(const Request request, FindRequest(list_sha256, store));
  RETURN_IF_ERROR(RequireOpen(request, person.now));
  const Withdrawal withdrawal{.run_id = {},
                              .family = {},
                              .statement = {kDeletionListName, request.gathered.sha256},
                              .reason = SafeText(reason, kMostReasonBytes),
                              .withdrawn = person.now};
  ASSIGN_OR_RETURN(
      const NewSignature made,
      SignAs(person, ToJson(WithdrawalStatement(withdrawal)).Dump(), request.gathered.where()));
  RETURN_IF_ERROR(store->AddWithdrawal(RowOf(made.envelope, made.envelope.signatures[0],
                                             request.gathered.sha256, made.key, person.now)));
  return TellRequest(list_sha256, {nullptr, person.now}, store);
}

Result<DeletionTold> RequireApproved(const std::string& list_sha256, bool begun,
                                     const TrustPolicy& trust, WallTime now, HistoryStore* store) {
  ASSIGN_OR_RETURN(const Request request, FindRequest(list_sha256, store));
  if (request.gathered.withdrawal || !begun) RETURN_IF_ERROR(RequireOpen(request, now));
  if (PeopleOf(request.gathered) < 2) {
    return InvalidInput(fmt::format("was asked for by {}; somebody else has to approve",
                                    TerminalSafe(request.gathered.rows.front().signed_by)),
                        request.gathered.where());
  }
  RETURN_IF_ERROR(HoldToTrust(request.gathered, request.envelope, {&trust, now}, true));
  // The last signature came in time, by the clock of who entered it.
  if (request.gathered.rows.back().entered >= request.said.expires) {
    return IntegrityError("was approved after its time was over", request.gathered.where());
  }
  return TellRequest(list_sha256, {&trust, now}, store);
}

Result<std::vector<DeletionTold>> ListDeletions(const TrustPolicy* trust, WallTime now,
                                                HistoryStore* store) {
  ASSIGN_OR_RETURN(const auto rows, store->Signed(kDeletionPredicate));
  ASSIGN_OR_RETURN(const auto deletions, store->Deletions());
  std::vector<std::string> lists;
  for (const SignedRecord& row : rows) lists.push_back(row.subject);
  for (const DeletionRecord& one : deletions) lists.push_back(one.list_sha256);
  std::set<std::string> told_of;
  std::vector<DeletionTold> all;
  for (const std::string& list : lists) {
    if (!told_of.insert(list).second) continue;
    auto told = TellRequest(list, {trust, now}, store);
    if (told.ok()) {
      all.push_back(std::move(*told));
    } else if (told.error().code == ErrorCode::kIntegrity) {
      all.push_back(Doubtful(list, told.error()));
    } else if (told.error().code == ErrorCode::kNotFound) {
      all.push_back(Doubtful(
          list, IntegrityError("was begun, and what was signed for it is not in the history",
                               Where(list))));
    } else {
      return told.error();
    }
  }
  return all;
}

}  // namespace rharness
