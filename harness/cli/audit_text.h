// What `rharness audit` prints of an append, of an audit and of checked proofs, as text and as
// JSON.
#ifndef RHARNESS_HARNESS_CLI_AUDIT_TEXT_H_
#define RHARNESS_HARNESS_CLI_AUDIT_TEXT_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/trust/audit/audit.h"

namespace rharness {

// "head over 12 entries, of 2026-11-25T08:00:00.000Z, signed by ada (Ada)"
std::string HeadWords(const SeenHead& head);

// "entry 12 (waiver policy.yaml/jit_*) was changed in its policy, ...".
std::string ChangedWords(const ChangedException& one);
// nullptr: no waiver or substitute says something else than what was entered.
const ChangedException* FirstChanged(const AuditOutcome& outcome);

// "2 records are not in the log yet, the first: retirement b; `rharness audit append` ...", of at
// least one.
std::string MissingWords(const std::vector<HeldRecord>& missing);

std::string AppendedText(const Appended& done, const std::filesystem::path& log);
Json AppendedJson(const Appended& done, const std::filesystem::path& log);

// Of a log that holds.
std::string AuditText(const AuditOutcome& outcome, const AuditRequest& request);
// A document of proofs that hold, and what it shows: a line each.
struct ProvenFile {
  std::string file;
  std::vector<std::string> proves;
};
Json CheckedJson(const std::vector<ProvenFile>& proofs, const std::vector<SeenHead>& heads);
Json AuditJson(const AuditOutcome& outcome, const AuditRequest& request);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_AUDIT_TEXT_H_
