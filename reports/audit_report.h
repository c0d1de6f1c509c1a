// The auditor's question about one run, answered: "rharness.audit_report/v1".
//
// Role: a noun with every sentence in it; harness/trust/audit fills it, a Document of it has
// every format.
#ifndef RHARNESS_REPORTS_AUDIT_REPORT_H_
#define RHARNESS_REPORTS_AUDIT_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/verdict/stored_verdict.h"
#include "reports/document.h"

namespace rharness {

inline constexpr char kAuditCommand[] = "command";  // of AuditFact

// A fact of a run from its record: how it was made, and from what.
struct AuditFact {
  std::string name;  // kAuditCommand, "code", "image", "data train"
  std::string value;
};

// A drill's verdict, newest first.
struct AuditVerdict {
  StoredVerdict said;
  std::string where = {};  // its node, hardware and software, in words; empty: not kept
};

inline constexpr char kAuditRetirementRequest[] = "retirement_request";
inline constexpr char kAuditDeletion[] = "deletion";

// Something that somebody answers for: a waiver, a substitute, a past or requested retirement of
// the run, or the deletion of one of its files.
struct AuditException {
  std::string kind;   // "waiver", "substitute", "retirement", or one of those above
  std::string about;  // probes, or "A100 -> H100"; the run; the file
  std::string reason;
  std::string signed_by;   // empty: not said
  std::string until;       // "through 2026-12-31 (UTC)"; empty: no end
  bool holds = true;       // now
  std::string doubt = {};  // why it differs from its signed form; empty: it matches
};

// A signed statement about the run.
struct AuditStatement {
  std::string file;
  std::string says;         // "identical, decided ... by drill ..."
  std::string signed_by;    // names and owners; empty: not valid
  std::string refused;      // why; empty: it is not
  std::string not_counted;  // why a line of it is ignored; empty: it counts
};

enum class AuditEntryState { kAsEntered, kChanged, kGone, kTwice, kNotEntered };
std::string_view AuditEntryStateName(AuditEntryState state);  // "as_entered", "changed", ...

// The log's entries about the run, in order; then records not in the log yet.
struct AuditEntryRow {
  std::optional<std::uint64_t> index;
  std::string kind;
  std::string name;
  std::string sha256;               // as entered; if not entered, of the present record
  std::optional<WallTime> entered;  // empty: it is not
  AuditEntryState state = AuditEntryState::kAsEntered;
  bool signed_over = false;  // it is in the tree of the newest head
};

struct AuditReport {
  WallTime at{};
  std::string version;  // of this program
  std::string history;
  std::string log;
  std::string run_id;
  std::string family;
  std::string headline;         // one sentence
  std::string next;             // what to do now; empty: nothing
  std::vector<AuditFact> made;  // in the order of the question
  std::vector<AuditVerdict> verdicts;
  std::vector<std::string> policies;  // with waivers and substitutes among the exceptions
  std::vector<AuditException> exceptions;
  std::vector<AuditStatement> statements;
  std::vector<AuditEntryRow> entries;
  std::uint64_t tree_size = 0;  // of the log
  std::string root_sha256;
  std::string head;  // "over 12 entries, of ..., signed by ..."; empty: no head
  std::vector<std::string> notes;
  int exit_code = 0;  // 5, or 1 if no authorised key has signed a head
};

Json ToJson(const AuditReport& report);
Document DocumentOf(const AuditReport& report);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_AUDIT_REPORT_H_
