// An audit: the log of a history brought up to date, and held to the history and to kept heads.
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

// Where the log of a history is kept unless said otherwise: RUNS.DB.audit beside its file. Errors:
// invalid_input for a history that is in no file.
Result<std::filesystem::path> DefaultLogFolder(const std::string& history);

// Enters all that the sources hold and the log does not. Errors: those of AppendToLog and of
// RecordBook::Load; integrity where the history says otherwise of its runs than its records do, and
// where a retirement or a deletion is not what two people signed (approvals.h).
Result<Appended> AppendRecords(const RecordSources& sources, const AppendRequest& request);

struct AuditRequest {
  RecordSources sources;
  std::filesystem::path folder;
  std::vector<std::filesystem::path> kept;  // files of heads that somebody kept
  const TrustPolicy* trust = nullptr;       // of heads, and of retirements where it speaks of them
  WallTime now{};
};

struct AuditOutcome {
  CheckedLog log;                   // as far as it holds
  std::optional<Error> fault;       // integrity; set: something was changed, or is not as signed
  std::optional<BadEntry> bad;      // the entry that the fault is about, where it is about one
  std::vector<HeldRecord> missing;  // held, and not in the log yet
  std::vector<ChangedException> exceptions;  // what policies say otherwise than the log
  std::uint64_t not_looked_at = 0;           // entries about what the sources do not name
  std::optional<AppendStart> unfinished;
  // There is a trust policy, which says nothing of retirements: whose keys signed them was not
  // looked at, but that the history names whom it has signatures of.
  bool held_by_names = false;
};
// Errors: whatever keeps it from being looked at; what was changed is the outcome's fault.
Result<AuditOutcome> Audit(const AuditRequest& request);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_AUDIT_AUDIT_H_
