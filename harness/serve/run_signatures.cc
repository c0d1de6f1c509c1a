// Who signed for a run's retirement, and whether that is what the history says.
#include <set>
#include <string>
#include <vector>

#include "harness/approval/retirement_approval.h"
#include "harness/attestation/approval_statements.h"
#include "harness/drill/history_of.h"
#include "harness/serve/run_life.h"
#include "reports/retirements_report.h"

namespace rharness {
namespace {

SiteSignature SignatureOf(const SignedRecord& record, const char* what) {
  return {
      .what = what,
      .signed_by = record.signed_by.empty() ? "nobody whom the history names" : record.signed_by,
      .entered = record.entered,
      .key_id = record.key_id,
      .statement_sha256 = record.statement_sha256};
}

}  // namespace

Result<std::string> RetirementWords(HistoryStore* store, const HistoryEntry& entry, WallTime now) {
  const auto told = RetirementOf(entry.run_id, nullptr, now, store);
  if (!told.ok() && told.error().code != ErrorCode::kIntegrity) return told.error();
  if (!told.ok()) return "Doubtful: " + told.error().ToString();
  if (told->state == RetirementState::kDoubtful) return "Doubtful: " + told->doubt;
  return RetiredInWords(*entry.retired, RetirementOfEntry(entry));
}

Status AddRetirementSignatures(HistoryStore* store, const std::string& run_id, SiteRun* page) {
  ASSIGN_OR_RETURN(const auto records, store->SignedOf(kRetirementPredicate, run_id));
  std::set<std::string> asked;
  for (const SignedRecord& record : records) {
    const bool first = asked.insert(record.statement_sha256).second;
    page->signatures.push_back(
        SignatureOf(record, first ? "retirement, asked for" : "retirement, approved"));
  }
  for (const std::string& statement : asked) {
    ASSIGN_OR_RETURN(const auto withdrawals, store->SignedOf(kWithdrawalPredicate, statement));
    for (const SignedRecord& record : withdrawals) {
      page->signatures.push_back(SignatureOf(record, "retirement, taken back"));
    }
  }
  return {};
}

}  // namespace rharness
