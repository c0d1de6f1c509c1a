// Lists that were begun, approved, or done.
#include "harness/cli/approved_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/base/clock.h"
#include "harness/base/log.h"
#include "harness/trust/retention/carry_out.h"
#include "reports/text.h"

namespace rharness {
namespace {

// What was asked for, or approved, and is another list than what would be deleted now.
Error ChangedSince(const std::string& now, const std::vector<DeletionTold>& all, Error error) {
  for (auto told = all.rbegin(); told != all.rend(); ++told) {
    if (told->list_sha256 == now ||
        (told->state != DeletionState::kAsked && told->state != DeletionState::kApproved))
      continue;
    error.message =
        fmt::format("{}; {} is {}, of {} and {}: what would be deleted has changed since",
                    error.message, told->list_sha256, NameIn(kDeletionStateNames, told->state),
                    Counted(told->items, "file"), FormatBytes(told->bytes));
    break;
  }
  return error;
}

// The last list that was carried out; nullptr: none was.
const DeletionTold* LastDone(const std::vector<DeletionTold>& all) {
  const DeletionTold* last = nullptr;
  for (const DeletionTold& one : all) {
    if (one.state == DeletionState::kDone && (last == nullptr || last->last < one.last))
      last = &one;
  }
  return last;
}

}  // namespace

Error NobodyAsked(const std::string& digest, const std::vector<DeletionTold>& all, Error error) {
  error = ChangedSince(digest, all, std::move(error));
  if (const DeletionTold* done = LastDone(all)) {
    error.message += fmt::format("; the last one, {}, {}", done->list_sha256.substr(0, 64),
                                 CarriedOutWords(*done));
  }
  return error;
}

Result<std::vector<ApprovedList>> BegunLists(const DeletionList& planned, const TrustPolicy& trust,
                                             HistoryStore* store) {
  ASSIGN_OR_RETURN(std::vector<UnfinishedDeletion> unfinished, FindUnfinished(planned.root, store));
  std::vector<ApprovedList> begun;
  for (UnfinishedDeletion& one : unfinished) {
    const std::string& digest = one.record.list_sha256;
    const auto told = RequireApproved(digest, true, trust, SystemClock().Now(), store);
    if (told.ok() && one.here) {
      begun.push_back({std::move(one.list), *told});
    } else if (told.ok()) {
      LogWarning(
          fmt::format("the list {} was begun in another folder of this path, and is left to "
                      "it; `rharness history prune withdraw {}` ends it",
                      digest, digest));
    } else if (told.error().code == ErrorCode::kInvalidInput) {
      LogWarning(told.error().ToString());
    } else if (one.here) {
      return told.error();
    }
  }
  return begun;
}

Result<ApprovedList> PlannedList(const DeletionList& planned, const TrustPolicy& trust,
                                 HistoryStore* store) {
  const WallTime now = SystemClock().Now();
  const std::string digest = DigestOf(planned);
  const auto told = RequireApproved(digest, false, trust, now, store);
  if (told.ok() && told->state == DeletionState::kDone) {
    return InvalidInput(
        CarriedOutWords(*told) + "; what lies there again is another deletion, of another list",
        "deletion list " + digest);
  }
  if (told.ok()) return ApprovedList{planned, *told};
  if (told.error().code != ErrorCode::kNotFound) return told.error();
  ASSIGN_OR_RETURN(const auto all, ListDeletions(nullptr, now, store));
  return NobodyAsked(digest, all, told.error());
}

Result<std::optional<DeletionTold>> DoneAlready(const DeletionList& planned,
                                                const TrustPolicy& trust, HistoryStore* store) {
  if (!planned.items.empty()) return std::optional<DeletionTold>();
  ASSIGN_OR_RETURN(const auto unfinished, FindUnfinished(planned.root, store));
  const WallTime now = SystemClock().Now();
  for (const UnfinishedDeletion& one : unfinished) {
    if (!one.here) continue;
    const auto told = RequireApproved(one.record.list_sha256, true, trust, now, store);
    const bool over = !told.ok() && told.error().code == ErrorCode::kInvalidInput;
    if (!over) return std::optional<DeletionTold>();
  }
  ASSIGN_OR_RETURN(const auto records, store->Deletions());
  ASSIGN_OR_RETURN(std::vector<DeletionTold> all, ListDeletions(&trust, now, store));
  std::erase_if(all, [&](const DeletionTold& one) {
    const auto record = std::ranges::find(records, one.list_sha256, &DeletionRecord::list_sha256);
    if (record == records.end()) return true;
    const auto list = ParseDeletionListOf(one.list_sha256, record->body, "deletion list");
    return !list.ok() || list->root != planned.root;
  });
  const DeletionTold* done = LastDone(all);
  return done == nullptr ? std::optional<DeletionTold>() : std::optional(*done);
}

}  // namespace rharness
