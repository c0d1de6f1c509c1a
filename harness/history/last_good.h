// The last good run of a family: the newest recording that still reproduces.
//
// Role: one choice for rollbacks (harness/insight/incident) and for what retention keeps for them
// (harness/trust/retention).
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
  std::optional<VerdictRecord> bad;   // after it; the first, if it was never good

  // Not retired, and the last conclusive verdict is good.
  bool IsGood() const { return good.has_value() && !bad && !entry.retired; }
};

// Reads the family, including retired runs. Errors: those of the store.
Result<std::vector<JudgedRun>> LoadJudgedRuns(const std::string& family, HistoryStore* store);

// Of good runs, the newest recording that began before that time, or of any time without one; of
// equal ones the last by run_id. nullptr: there is none.
const HistoryEntry* LastGoodBefore(const std::vector<const HistoryEntry*>& good,
                                   std::optional<WallTime> before);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_LAST_GOOD_H_
