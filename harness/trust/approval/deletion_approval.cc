// Requests, approvals and withdrawals of deletions, and their states.
#include "harness/trust/approval/deletion_approval.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/trust/approval/retirement_records.h"
#include "harness/trust/approval/signing.h"
#include "harness/trust/approval/statement_check.h"
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

  std::string where() const { return gathered.where(); }
  const std::string& asked_by() const { return gathered.rows.front().signed_by; }
};

Result<Request> ReadRequest(GatheredStatement gathered, const std::string& list_sha256) {
  Request request{.gathered = std::move(gathered), .envelope = {}, .said = {}};
  const std::string where = request.where();
  ASSIGN_OR_RETURN(request.envelope, Combine(request.gathered));
  ASSIGN_OR_RETURN(const SignedStatement statement,
                   ParseStatement(request.envelope.payload, where));
  ASSIGN_OR_RETURN(request.said, ReadDeletion(statement, where));
  if (request.said.list.sha256 == list_sha256) return request;
  return IntegrityError("was signed for the list " + request.said.list.sha256, where);
}

// Every request for this list, the last one last. Errors: not_found; integrity if one differs from
// its signed form.
Result<std::vector<Request>> FindRequests(const std::string& list_sha256, HistoryStore* store) {
  ASSIGN_OR_RETURN(GatheredStatements all, AllStatements(store));
  const auto found = all.find(list_sha256);
  if (found == all.end()) {
    return NotFound("nobody asked for its deletion; `rharness history prune request` does",
                    Where(list_sha256));
  }
  std::vector<Request> requests;
  for (GatheredStatement& one : found->second) {
    ASSIGN_OR_RETURN(requests.emplace_back(), ReadRequest(std::move(one), list_sha256));
  }
  return requests;
}

Result<Request> FindRequest(const std::string& list_sha256, HistoryStore* store) {
  ASSIGN_OR_RETURN(std::vector<Request> requests, FindRequests(list_sha256, store));
  return std::move(requests.back());
}

// How far a list was carried out.
struct Progress {
  std::optional<DeletionRecord> record;  // empty: it was not begun
  const Request* by = nullptr;           // the request by which it was begun
  std::vector<DeletedItem> steps;
  std::uint64_t ended = 0;
  std::uint64_t gone = 0;
  std::uint64_t stays = 0;
  WallTime last{};  // of the steps
};
Result<Progress> ProgressOf(const std::string& list_sha256, HistoryStore* store) {
  ASSIGN_OR_RETURN(const auto deletions, store->Deletions());
  Progress progress;
  const auto record = std::ranges::find(deletions, list_sha256, &DeletionRecord::list_sha256);
  if (record == deletions.end()) return progress;
  progress.record = *record;
  ASSIGN_OR_RETURN(progress.steps, store->DeletedItems(list_sha256));
  std::set<int> ended;
  for (const DeletedItem& step : progress.steps) {
    progress.last = std::max(progress.last, step.at);
    if (step.step == DeletionStep::kAbout || !ended.insert(step.item).second) continue;
    if (step.step == DeletionStep::kGone) ++progress.gone;
    if (step.step == DeletionStep::kStays) ++progress.stays;
  }
  progress.ended = ended.size();
  return progress;
}

// The begun list is the signed one, and the steps are of its files. Errors: integrity.
Status HoldToList(const Progress& progress, const Deletion& said, const std::string& where) {
  ASSIGN_OR_RETURN(const DeletionList list,
                   ParseDeletionListOf(progress.record->list_sha256, progress.record->body, where));
  if (list.items.size() != said.items || list.bytes() != said.bytes) {
    return IntegrityError(
        fmt::format("was signed for {} and {}; the list names {} and {}",
                    Counted(said.items, "file"), FormatBytes(said.bytes),
                    Counted(list.items.size(), "file"), FormatBytes(list.bytes())),
        where);
  }
  for (const DeletedItem& step : progress.steps) {
    if (step.item >= 0 && static_cast<std::size_t>(step.item) < list.items.size()) continue;
    return IntegrityError(fmt::format("the history has a step of file {} of a list that names {}",
                                      step.item, list.items.size()),
                          where);
  }
  return {};
}

// Two people signed according to the history; with a policy also as it requires.
bool IsApproved(const Request& request, const Question& question) {
  if (PeopleOf(request.gathered) < 2) return false;
  return question.trust == nullptr ||
         VerifyStatement(WriteEnvelope(request.envelope), request.where(), *question.trust,
                         question.now)
             .ok();
}

// Nothing more can be done under it except to finish what was begun.
bool IsOver(const Request& request, WallTime now) {
  return request.gathered.withdrawal.has_value() || now >= request.said.expires;
}

// Checks for each request that it matches its signed form and is in time. Only the last one can be
// open, and is checked against keys: keys of others may have left the policy. Errors: integrity.
Status CheckRequest(const Request& request, bool is_last, const Question& question) {
  // By the clock of who entered it.
  if (PeopleOf(request.gathered) > 1 &&
      request.gathered.rows.back().entered >= request.said.expires) {
    return IntegrityError("was approved after its time was over", request.where());
  }
  if (question.trust == nullptr || !is_last) return {};
  if (!request.gathered.withdrawal && IsOver(request, question.now)) return {};
  return HoldToTrust(request.gathered, request.envelope, question, false);
}

// All checks of a list, for every caller; finds the request that began it. Errors: integrity.
Status CheckList(const std::vector<Request>& requests, const Question& question,
                 Progress* progress) {
  for (const Request& one : requests) {
    RETURN_IF_ERROR(CheckRequest(one, &one == &requests.back(), question));
  }
  if (!progress->record) return {};
  const DeletionRecord& record = *progress->record;
  for (const Request& one : requests) {
    if (PeopleOf(one.gathered) < 2 || one.asked_by() != record.asked_by ||
        record.approved_by.empty() || !ApproversOf(one.gathered).starts_with(record.approved_by)) {
      continue;
    }
    progress->by = &one;
  }
  const std::string where = Where(record.list_sha256);
  if (progress->by == nullptr) {
    return IntegrityError(
        fmt::format("was begun at {}, asked for by '{}' and approved by '{}', as the history says; "
                    "nobody signed that",
                    FormatTime(record.begun), TerminalSafe(record.asked_by),
                    TerminalSafe(record.approved_by)),
        where);
  }
  RETURN_IF_ERROR(HoldToList(*progress, progress->by->said, where));
  const GatheredStatement& by = progress->by->gathered;
  const bool past = by.withdrawal && progress->by != &requests.back();
  if (question.trust == nullptr || past) return {};
  return HoldToTrust(by, progress->by->envelope, question, !by.withdrawal);
}

DeletionState StateOf(const Request& request, const Progress& progress, const Question& question) {
  const bool by_it = progress.by == &request;
  if (progress.record && progress.ended >= request.said.items) return DeletionState::kDone;
  if (by_it) return DeletionState::kBegun;
  if (request.gathered.withdrawal) return DeletionState::kWithdrawn;
  if (question.now >= request.said.expires) return DeletionState::kExpired;
  return IsApproved(request, question) ? DeletionState::kApproved : DeletionState::kAsked;
}

// Checked throughout.
Result<DeletionTold> TellRequest(const std::string& list_sha256, const Question& question,
                                 HistoryStore* store) {
  ASSIGN_OR_RETURN(const std::vector<Request> requests, FindRequests(list_sha256, store));
  ASSIGN_OR_RETURN(Progress progress, ProgressOf(list_sha256, store));
  RETURN_IF_ERROR(CheckList(requests, question, &progress));
  const Request& request = requests.back();
  DeletionTold told{.list_sha256 = list_sha256,
                    .state = StateOf(request, progress, question),
                    .reason = request.said.reason,
                    .asked_by = request.asked_by(),
                    .asked = FormatTime(request.said.requested),
                    .approved_by = ApproversOf(request.gathered),
                    .expires = FormatTime(request.said.expires),
                    .items = request.said.items,
                    .bytes = request.said.bytes,
                    .deleted = progress.gone,
                    .stays = progress.stays,
                    .begun = {},
                    .last = {},
                    .ended_by = {},
                    .ended_reason = ReasonOfWithdrawal(request.gathered),
                    .doubt = {},
                    .statement_sha256 = request.gathered.sha256};
  if (progress.record) told.begun = FormatTime(progress.record->begun);
  if (!progress.steps.empty()) told.last = FormatTime(progress.last);
  if (request.gathered.withdrawal) told.ended_by = request.gathered.withdrawal->signed_by;
  return told;
}

DeletionTold Doubtful(const std::string& list_sha256, const Error& error) {
  DeletionTold told{.list_sha256 = list_sha256};
  told.state = DeletionState::kDoubtful;
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

// What is done needs no signature and cannot be taken back.
Result<DeletionTold> RequireNotDone(const std::string& list_sha256, WallTime now,
                                    HistoryStore* store) {
  ASSIGN_OR_RETURN(DeletionTold told, TellRequest(list_sha256, {nullptr, now}, store));
  if (told.state != DeletionState::kDone) return told;
  return InvalidInput(CarriedOutWords(told), Where(list_sha256));
}

// Whether it can be requested now. A finished request is no obstacle, whoever signed it.
Status RequireFree(const std::string& digest, const SigningPerson& person, HistoryStore* store) {
  const auto last = FindRequest(digest, store);
  if (!last.ok()) return last.error().code == ErrorCode::kNotFound ? Status() : last.error();
  const TrustPolicy* trust = IsOver(*last, person.now) ? nullptr : person.trust;
  ASSIGN_OR_RETURN(const DeletionTold before, TellRequest(digest, {trust, person.now}, store));
  if (before.state == DeletionState::kAsked || before.state == DeletionState::kApproved) {
    return InvalidInput(fmt::format("was asked for already, by {}", TerminalSafe(before.asked_by)),
                        Where(digest));
  }
  if (before.state == DeletionState::kBegun && before.ended_by.empty()) {
    return InvalidInput("is being carried out; `rharness history prune apply` goes on",
                        Where(digest));
  }
  if (before.state != DeletionState::kDone) return {};
  return InvalidInput(CarriedOutWords(before), Where(digest));
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
  RETURN_IF_ERROR(RequireFree(digest, person, store));
  const Deletion asked{.list = {kDeletionListName, digest},
                       .items = list.items.size(),
                       .bytes = list.bytes(),
                       .reason = SafeText(reason, kMostReasonBytes),
                       .requested = person.now,
                       .expires = expires};
  ASSIGN_OR_RETURN(const NewSignature made, AskAs(person, {kDeletionPredicate, {}},
                                                  ToJson(DeletionStatement(asked)).Dump(), where));
  RETURN_IF_ERROR(store->AddSigned(
      RowOf(made.envelope, made.envelope.signatures[0], digest, made.key, person.now)));
  return TellRequest(digest, {person.trust, person.now}, store);
}

Result<DeletionTold> ApproveDeletion(const std::string& list_sha256, const SigningPerson& person,
                                     HistoryStore* store) {
  ASSIGN_OR_RETURN(const Request request, FindRequest(list_sha256, store));
  const std::string where = request.where();
  const auto open = RequireNotDone(list_sha256, person.now, store);
  if (!open.ok()) return open.error();
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
  if (reason.empty()) {
    return InvalidInput("taking it back needs a reason", Where(list_sha256));
  }
  ASSIGN_OR_RETURN(const Request request, FindRequest(list_sha256, store));
  ASSIGN_OR_RETURN(const DeletionTold told, RequireNotDone(list_sha256, person.now, store));
  // A begun deletion continues after its time, and so can be withdrawn then.
  if (request.gathered.withdrawal || told.state != DeletionState::kBegun) {
    RETURN_IF_ERROR(RequireOpen(request, person.now));
  }
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
  const Question question{&trust, now};
  ASSIGN_OR_RETURN(const Request request, FindRequest(list_sha256, store));
  if (request.gathered.withdrawal || !begun) RETURN_IF_ERROR(RequireOpen(request, now));
  ASSIGN_OR_RETURN(DeletionTold told, TellRequest(list_sha256, question, store));
  if (PeopleOf(request.gathered) < 2) {
    return InvalidInput(fmt::format("was asked for by {}; somebody else has to approve",
                                    TerminalSafe(request.asked_by())),
                        request.where());
  }
  if (IsApproved(request, question)) return told;
  return InvalidInput(
      fmt::format("was asked for by {} and approved by {}; the policy asks for more",
                  TerminalSafe(request.asked_by()), TerminalSafe(ApproversOf(request.gathered))),
      request.where());
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
