// Retirements and deletions from harness/trust/approval.
#include "harness/trust/audit/approvals.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/glob.h"
#include "harness/history/untouched.h"
#include "harness/trust/approval/deletion_approval.h"
#include "harness/trust/approval/retirement_approval.h"
#include "harness/trust/attestation/approval_statements.h"

namespace rharness {
namespace {

// "Ada (asked 2026-06-01) and Bob (approved 2026-06-02)".
std::string RetiringPeople(const RetirementTold& told) {
  constexpr std::size_t kDay = 10;
  const auto day = [](const std::optional<WallTime>& time) {
    return time ? FormatTime(*time).substr(0, kDay) : std::string("-");
  };
  return fmt::format("{} (asked {}) and {} (approved {})", told.asked_by, day(told.asked),
                     told.approved_by, day(told.approved));
}

}  // namespace

const TrustPolicy* TrustForRetirements(const TrustPolicy* trust) {
  if (trust == nullptr) return nullptr;
  const auto matches = [](const std::string& glob) {
    return GlobMatches(glob, kRetirementPredicate);
  };
  const bool is_there = std::ranges::any_of(trust->rules, [&](const TrustRule& rule) {
    return std::ranges::any_of(rule.predicates, matches);
  });
  return is_there ? trust : nullptr;
}

Result<std::optional<Error>> DoubtfulApproval(const std::string& history, const TrustPolicy* trust,
                                              WallTime now) {
  ASSIGN_OR_RETURN(const auto store, OpenUntouchedHistory(history));
  const bool of_deletions = trust != nullptr && trust->FindRule(kDeletionPredicate, "") != nullptr;
  ASSIGN_OR_RETURN(const auto deletions,
                   ListDeletions(of_deletions ? trust : nullptr, now, store.get()));
  const auto deletion =
      std::ranges::find(deletions, DeletionState::kDoubtful, &DeletionTold::state);
  if (deletion != deletions.end()) {
    return std::optional(
        IntegrityError(deletion->doubt, "deletion list " + TerminalSafe(deletion->list_sha256)));
  }
  ASSIGN_OR_RETURN(const auto retirements,
                   ListRetirements(TrustForRetirements(trust), now, store.get()));
  const auto retirement =
      std::ranges::find(retirements, RetirementState::kDoubtful, &RetirementTold::state);
  if (retirement == retirements.end()) return std::optional<Error>();
  return std::optional(IntegrityError("its retirement is doubtful: " + retirement->doubt,
                                      "run " + TerminalSafe(retirement->run_id)));
}

Result<std::optional<AuditException>> RetirementException(const std::string& run_id,
                                                          const TrustPolicy* trust, WallTime now,
                                                          HistoryStore* store) {
  ASSIGN_OR_RETURN(const RetirementTold told,
                   RetirementOf(run_id, TrustForRetirements(trust), now, store));
  AuditException exception{
      .kind = "retirement", .about = run_id, .reason = told.reason, .signed_by = {}};
  switch (told.state) {
    case RetirementState::kRetired:
      exception.signed_by = RetiringPeople(told);
      return std::optional(exception);
    case RetirementState::kUnsigned:
      return std::optional(exception);
    case RetirementState::kDoubtful:
      exception.doubt = told.doubt;
      return std::optional(exception);
    case RetirementState::kNone:
    case RetirementState::kAsked:
    case RetirementState::kExpired:
    case RetirementState::kWithdrawn:
      return std::optional<AuditException>();
  }
  Abort("unknown RetirementState");
}

}  // namespace rharness
