// The last good run of a family: the newest that was recorded before a run and still reproduces.
//
// Role: pure; the history of the family's runs in, a choice with its reasons out.
#ifndef RHARNESS_HARNESS_INSIGHT_INCIDENT_LAST_GOOD_H_
#define RHARNESS_HARNESS_INSIGHT_INCIDENT_LAST_GOOD_H_

#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/history/records.h"
#include "harness/history/store.h"

namespace rharness {

// A run of the family, and its last good verdict with the first bad one after it.
struct FamilyMember {
  HistoryEntry entry;
  std::optional<VerdictRecord> good;  // identical or equivalent
  std::optional<VerdictRecord> bad;   // after it; the first, if it was never good
  std::string why_not;                // why it is not chosen; empty: it is
  bool may_be = false;                // good and recorded before the run
};

struct LastGood {
  std::vector<FamilyMember> members;  // without the run itself; newest recording first
  std::optional<std::size_t> chosen;  // in `members`
};

// A rollback to a run is possible if it is not retired, was recorded before `run`, and its last
// conclusive verdict is identical or equivalent; of these the newest recording is the last good one
// (of equal ones the last by run_id). `named`: takes that run if its last verdict is good, whenever
// it was recorded. Errors: invalid_input if `named` is not of the family, retired, not good, or the
// run itself.
Result<LastGood> ChooseLastGood(const HistoryEntry& run, std::vector<FamilyMember> members,
                                const std::string& named);

// Number of good runs not recorded before `run`: --good may take one of them.
std::size_t NewerGood(const LastGood& found, const HistoryEntry& run);
// The first of them recorded at or after this time; nullptr: none.
const FamilyMember* NearestNewerGood(const LastGood& found, WallTime started);

// Skips the chosen run, for this reason, in favour of the next older candidate. Without one it
// changes nothing and returns false.
bool PassOver(const std::string& why, LastGood* found);

// Checks whether somebody retired the chosen run meanwhile. Errors: invalid_input if it is retired.
Status RefuseRetired(const HistoryEntry& chosen);

// Takes the run chosen before, whatever a drill found since. Errors: integrity if it is none of the
// members or never was good; those of RefuseRetired.
Status TakeAgain(const std::string& chosen, LastGood* found);

// Reads the family. Errors: those of the store.
Result<std::vector<FamilyMember>> LoadFamilyMembers(const HistoryEntry& run, HistoryStore* store);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_INCIDENT_LAST_GOOD_H_
