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

// kind and name together are unique in a history. Of a manifest the digest is that of its text as
// it is kept; of the others of all columns, as JSON.
struct HeldRecord {
  std::string kind;
  std::string name;
  Sha256Bytes sha256{};
};

// "run": the columns copied from a manifest; "manifest": its text; "drill", with how many records
// it has; "verdict", with its reruns and measures, by DRILL/RUN; "reruns" that no verdict is about,
// by the same; "family_verdict" by DRILL/CONFIGURATION; "property_verdict" by DRILL/RUN/PROPERTY;
// "retirement"; "rebuild" by RUN/MILLISECONDS; "replicate" by CONFIGURATION/STACK/RUN/NUMBER;
// "surroundings" by their digest. Of what people signed: "attestation" by DRILL/RUN/KEY,
// "signed_statement" by SUBJECT/STATEMENT/KEY, "signed_retirement", "withdrawal" by the statement
// that is taken back, "deletion" by its list, "deleted_item" by LIST/ITEM/STEP.
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
  // What the history derives from its records says otherwise than they do (integrity).
  std::optional<Error> derived;
};

// Everything that the history at this URL holds but for claims, as it is at one moment: runs, their
// manifests, and the rest in the order of kHeldKinds. Reads all of it and leaves it untouched.
// Errors: those of OpenUntouchedHistory.
Result<HeldRecords> ReadHeldRecords(const std::string& url);
// Those that are about one run, with what takes back what was signed about it; none where it is not
// there.
Result<std::vector<HeldRecord>> ReadHeldRecordsOf(const std::string& run_id,
                                                  const std::string& url);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_HELD_RECORD_H_
