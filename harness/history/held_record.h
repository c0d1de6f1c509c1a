// A record of a history by its name and the digest of its content, as an audit log keeps it.
#ifndef RHARNESS_HARNESS_HISTORY_HELD_RECORD_H_
#define RHARNESS_HARNESS_HISTORY_HELD_RECORD_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/result.h"

namespace rharness {

// kind and name together are unique in a history. Of a manifest the digest is that of its text as it
// is kept; of the others of all columns, as JSON.
struct HeldRecord {
  std::string kind;
  std::string name;
  Sha256Bytes sha256{};
};

// "run": the columns copied from a manifest; "manifest": its text; "drill", with how many records it
// has; "verdict", with its reruns, by DRILL/RUN; "reruns" that no verdict is about, by the same;
// "family_verdict" by DRILL/CONFIGURATION; "property_verdict" by DRILL/RUN/PROPERTY; "retirement";
// "rebuild" by RUN/MILLISECONDS; "replicate" by CONFIGURATION/STACK/RUN/NUMBER; "surroundings" by
// their digest.
inline constexpr std::string_view kHeldKinds[] = {
    "run",       "manifest", "surroundings",   "drill",            "verdict",
    "reruns",    "family_verdict", "property_verdict", "retirement", "rebuild",
    "replicate"};

// Everything that the history at this URL holds but for claims, as it is at one moment: runs, their
// manifests, and the rest in the order of kHeldKinds. Reads all of it. Errors: those of
// HistoryStore::OpenExisting; integrity where what is derived from the records says otherwise than
// they do.
Result<std::vector<HeldRecord>> ReadHeldRecords(const std::string& url);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_HELD_RECORD_H_
