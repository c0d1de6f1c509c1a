// The last good run of a family: the newest recording that still reproduces.
//
// Role: one choice for who goes back to that run (harness/insight/incident) and for who keeps it
// for them (harness/trust/retention).
#ifndef RHARNESS_HARNESS_HISTORY_LAST_GOOD_H_
#define RHARNESS_HARNESS_HISTORY_LAST_GOOD_H_

#include <optional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/history/records.h"
#include "harness/history/store.h"

namespace rharness {

// A run, and its last good verdict with the first bad one after it.
struct JudgedRun {
  HistoryEntry entry;
  std::optional<VerdictRecord> good;  // identical or equivalent
  std::optional<VerdictRecord> bad;   // after it; of a run that never was good its first

  // Not retired, and the last verdict that says something of it is good.
  bool IsGood() const { return good.has_value() && !bad && !entry.retired; }
};

// Reads the family, retired runs among it. Errors: those of the store.
Result<std::vector<JudgedRun>> LoadJudgedRuns(const std::string& family, HistoryStore* store);

// Of runs that are good, the newest recording that began before that time, whenever where there is
// none; of equal ones the last by run_id. nullptr: there is none.
const HistoryEntry* LastGoodBefore(const std::vector<const HistoryEntry*>& good,
                                   std::optional<WallTime> before);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_LAST_GOOD_H_
