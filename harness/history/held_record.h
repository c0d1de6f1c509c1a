// A record of a history by its name and the digest of its content, as an audit log keeps it.
#ifndef RHARNESS_HARNESS_HISTORY_HELD_RECORD_H_
#define RHARNESS_HARNESS_HISTORY_HELD_RECORD_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/result.h"

namespace rharness {

// kind and name together are unique in a history. The digest is that of a manifest's kept text; for
// the others, of all columns as JSON.
struct HeldRecord {
  std::string kind;
  std::string name;
  Sha256Bytes sha256{};
};

// "run": the columns copied from a manifest; "manifest": its text; "drill", with its number of
// records; "verdict", with its reruns and measures, by DRILL/RUN; "reruns" without a verdict, by
// the same; "family_verdict" by DRILL/CONFIGURATION; "property_verdict" by DRILL/RUN/PROPERTY;
// "retirement"; "rebuild" by RUN/MILLISECONDS; "replicate" by CONFIGURATION/STACK/RUN/NUMBER;
// "surroundings" by their digest. Signed by people: "attestation" by DRILL/RUN/KEY,
// "signed_statement" by SUBJECT/STATEMENT/KEY, "signed_retirement", "withdrawal" by the withdrawn
// statement, "deletion" by its list, "deleted_item" by LIST/ITEM/STEP.
inline constexpr std::string_view kHeldKinds[] = {"run",
                                                  "manifest",
                                                  "surroundings",
                                                  "drill",
                                                  "verdict",
                                                  "reruns",
                                                  "family_verdict",
                                                  "property_verdict",
                                                  "retirement",
                                                  "rebuild",
                                                  "replicate",
                                                  "attestation",
                                                  "signed_statement",
                                                  "signed_retirement",
                                                  "withdrawal",
                                                  "deletion",
                                                  "deleted_item"};

struct HeldRecords {
  std::vector<HeldRecord> records;
  // Derived tables of the history that contradict its records (integrity).
  std::optional<Error> derived;
};

// All records of the history at this URL except claims, at one moment: runs, their manifests, and
// the rest in the order of kHeldKinds. Reads all of it and leaves it untouched. Errors: those of
// OpenUntouchedHistory.
Result<HeldRecords> ReadHeldRecords(const std::string& url);
// Those of one run, with withdrawals of signatures on it; none if there is no such run.
Result<std::vector<HeldRecord>> ReadHeldRecordsOf(const std::string& run_id,
                                                  const std::string& url);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_HELD_RECORD_H_
