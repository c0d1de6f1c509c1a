// An audit: updates the log of a history, and checks it against the history and kept heads.
//
// Role: the composition of this folder, start here: a record book (record_book.h) beside a log
// (log_append.h, log_check.h).
#ifndef RHARNESS_HARNESS_TRUST_AUDIT_AUDIT_H_
#define RHARNESS_HARNESS_TRUST_AUDIT_AUDIT_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/trust/audit/log_append.h"
#include "harness/trust/audit/log_check.h"
#include "harness/trust/audit/record_book.h"

namespace rharness {

// The default log folder of a history: RUNS.DB.audit beside its file. Errors: invalid_input for a
// history that is in no file.
Result<std::filesystem::path> DefaultLogFolder(const std::string& history);

// Enters all records of the sources that the log does not have. Errors: those of AppendToLog and of
// RecordBook::Load; integrity if the history's derived data contradict its records, and if a
// retirement or a deletion does not match its two signatures (approvals.h).
Result<Appended> AppendRecords(const RecordSources& sources, const AppendRequest& request);

struct AuditRequest {
  RecordSources sources;
  std::filesystem::path folder;
  std::vector<std::filesystem::path> kept;  // files with heads that somebody kept
  const TrustPolicy* trust = nullptr;       // of heads, and of retirements where it speaks of them
  WallTime now{};
};

struct AuditOutcome {
  CheckedLog log;                   // as far as it holds
  std::optional<Error> fault;       // integrity; set: something was changed, or is not as signed
  std::optional<BadEntry> bad;      // the entry of the fault, if there is one
  std::vector<HeldRecord> missing;  // records not in the log yet
  std::vector<ChangedException> exceptions;  // where policies differ from the log
  std::uint64_t not_looked_at = 0;           // entries about things that the sources do not name
  std::optional<AppendStart> unfinished;
  // The trust policy has no rule for retirements: their keys were not verified, only that the
  // history names the owners of its signatures.
  bool held_by_names = false;
};
// Errors: any obstacle to the audit; changes are the outcome's fault.
Result<AuditOutcome> Audit(const AuditRequest& request);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_AUDIT_H_
