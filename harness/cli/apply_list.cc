// One list, and how far it came.
#include "harness/cli/apply_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/clock.h"
#include "harness/base/files.h"
#include "harness/trust/approval/deletion_approval.h"
#include "reports/text.h"

namespace rharness {
namespace {

std::string FilesGone(const DeletionTold& told) {
  return fmt::format("{} of {} {} gone", told.deleted, Counted(told.items, "file"),
                     told.deleted == 1 ? "is" : "are");
}

std::string Where(const DeletionTold& told) { return "deletion list " + told.list_sha256; }

// Files of the list whose turn is still to come, and how that ends.
Error HeldError(const DeletionTold& told, const CarriedOut& done) {
  const bool one = done.held.size() == 1;
  return InvalidInput(
      fmt::format(
          "{}; {} {} to be deleted, and {} kept by now; the first: {}. `rharness history prune "
          "apply` goes on once nothing keeps {}, `rharness history prune withdraw {}` ends it",
          FilesGone(told), Counted(done.held.size(), "file"), one ? "was" : "were",
          one ? "is" : "are", TerminalSafe(done.held.front()), one ? "it" : "them",
          told.list_sha256),
      Where(told));
}

// What became of a list that is being carried out.
Result<DeletionTold> ToldNow(const std::string& digest, const TrustPolicy& trust,
                             HistoryStore* store) {
  ASSIGN_OR_RETURN(const auto all, ListDeletions(&trust, SystemClock().Now(), store));
  const auto told = std::ranges::find(all, digest, &DeletionTold::list_sha256);
  if (told == all.end()) return IntegrityError("is not in the history any more", digest);
  if (told->state == DeletionState::kDoubtful) return IntegrityError(told->doubt, Where(*told));
  return *told;
}

}  // namespace

Result<Applied> Apply(const ApprovedList& approved, const TrustPolicy& trust, DeletionWatch* watch,
                      HistoryStore* store) {
  const SignedList list{.list = approved.list,
                        .statement_sha256 = approved.told.statement_sha256,
                        .asked_by = approved.told.asked_by,
                        .approved_by = approved.told.approved_by};
  Applied applied;
  ASSIGN_OR_RETURN(applied.done, CarryOut(list, &SystemClock(), watch, store));
  ASSIGN_OR_RETURN(applied.told, ToldNow(approved.told.list_sha256, trust, store));
  return applied;
}

Status RequireAllGone(const Applied& applied) {
  const CarriedOut& done = applied.done;
  if (!done.changed.empty()) {
    return IntegrityError(fmt::format("{} {}; the first: {}", Counted(done.changed.size(), "file"),
                                      done.changed.size() == 1 ? "stays" : "stay",
                                      done.changed.front()));
  }
  if (done.taken_back || (!done.held.empty() && !applied.told.ended_by.empty())) {
    return InvalidInput(fmt::format("was taken back by {} while it was carried out: {}, and the "
                                    "others stay",
                                    TerminalSafe(applied.told.ended_by), FilesGone(applied.told)),
                        Where(applied.told));
  }
  return done.held.empty() ? Status() : Status(HeldError(applied.told, done));
}

}  // namespace rharness
