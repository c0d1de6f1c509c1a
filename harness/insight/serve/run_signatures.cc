// The signers of a run's retirement, and whether they match the history.
#include <set>
#include <string>
#include <vector>

#include "harness/insight/serve/run_life.h"
#include "harness/trust/approval/retirement_approval.h"
#include "harness/trust/attestation/approval_statements.h"
#include "reports/retirements_report.h"

namespace rharness {
namespace {

// The person named by the row, if it matches the signed form.
std::string SignerOf(const SignedRecord& record, const std::string& doubt) {
  if (!doubt.empty()) return "not shown: it is doubtful";
  return record.signed_by.empty() ? "nobody whom the history names" : record.signed_by;
}

}  // namespace

Result<std::string> RetirementDoubt(HistoryStore* store, const std::string& run_id, WallTime now) {
  const auto told = RetirementOf(run_id, nullptr, now, store);
  if (!told.ok() && told.error().code != ErrorCode::kIntegrity) return told.error();
  if (!told.ok()) return told.error().ToString();
  return told->state == RetirementState::kDoubtful ? told->doubt : "";
}

Status AddRetirementSignatures(HistoryStore* store, const std::string& run_id,
                               const std::string& doubt, SiteRun* page) {
  const auto add = [&](const SignedRecord& record, const char* what) {
    page->signatures.push_back({.what = what,
                                .signed_by = SignerOf(record, doubt),
                                .entered = record.entered,
                                .key_id = record.key_id,
                                .statement_sha256 = record.statement_sha256});
  };
  ASSIGN_OR_RETURN(const auto records, store->SignedOf(kRetirementPredicate, run_id));
  std::set<std::string> asked;
  for (const SignedRecord& record : records) {
    const bool first = asked.insert(record.statement_sha256).second;
    add(record, first ? "retirement, asked for" : "retirement, approved");
  }
  for (const std::string& statement : asked) {
    ASSIGN_OR_RETURN(const auto withdrawals, store->SignedOf(kWithdrawalPredicate, statement));
    for (const SignedRecord& record : withdrawals) add(record, "retirement, taken back");
  }
  return {};
}

}  // namespace rharness
