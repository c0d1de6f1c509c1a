// The last good run of a family: the newest that was recorded before a run and still reproduces.
//
// Role: pure; what the history says of the family's runs in, a choice with its reasons out.
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
  std::optional<VerdictRecord> bad;   // after it; of a run that never was good its first
  std::string why_not;                // why it is not the last good run; empty: it is
  bool may_be = false;                // good and recorded before the run
};

struct LastGood {
  std::vector<FamilyMember> members;  // without the run itself; newest recording first
  std::optional<std::size_t> chosen;  // in `members`
};

// A run may be gone back to where it is not retired, was recorded before `run`, and its last
// verdict that says something of it is identical or equivalent; of these the newest recording is
// the last good one (of equal ones the last by run_id). `named`: that one is taken where its last
// verdict is good, whenever it was recorded. Errors: invalid_input where `named` is not of the
// family, retired, not good, or the run itself.
Result<LastGood> ChooseLastGood(const HistoryEntry& run, std::vector<FamilyMember> members,
                                const std::string& named);

// How many good runs were not recorded before `run`: --good may take one of them.
std::size_t NewerGood(const LastGood& found, const HistoryEntry& run);
// The first of them that was recorded after this time, or then; nullptr: there is none.
const FamilyMember* NearestNewerGood(const LastGood& found, WallTime started);

// Passes over the chosen run, for this reason, to the next older one that may be it. Where there is
// none nothing changes, and false is returned.
bool PassOver(const std::string& why, LastGood* found);

// Somebody took this run out of use after it was chosen. Errors: invalid_input where it is retired.
Status RefuseRetired(const HistoryEntry& chosen);

// Takes a run that was chosen before, whatever a drill said of it since. Errors: integrity where it
// is none of the members or never was good; those of RefuseRetired.
Status TakeAgain(const std::string& chosen, LastGood* found);

// Reads the family. Errors: those of the store.
Result<std::vector<FamilyMember>> LoadFamilyMembers(const HistoryEntry& run, HistoryStore* store);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_INCIDENT_LAST_GOOD_H_
