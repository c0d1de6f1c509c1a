// Verdicts by week and family, counted once and then kept up with.
//
// Role: a million verdicts cannot be counted for each page, and none that was counted ever changes,
// so that only those of new drills are read again. Not here: threads; what shows them.
#ifndef RHARNESS_HARNESS_INSIGHT_SERVE_WEEKS_H_
#define RHARNESS_HARNESS_INSIGHT_SERVE_WEEKS_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/history/browser.h"
#include "harness/verdict/verdict.h"

namespace rharness {

using VerdictTotals = std::array<std::int64_t, 7>;  // in the order of kVerdicts

struct FamilyWeeks {
  std::map<WallTime, VerdictTotals> weeks;  // by their Monday
  std::optional<WallTime> judged;           // the last verdict of any kind
};

struct WeekTotals {
  std::map<std::string, FamilyWeeks> families;
  std::map<WallTime, VerdictTotals> all;
  std::int64_t sequence = 0;  // of the last drill that is counted
};

// Adds what the next `drills` drills said; weeks before `oldest` and verdicts of no name that this
// version knows are left out. Whether there was anything. Errors: the browser's; nothing is changed
// then.
Result<bool> CountNewVerdicts(HistoryBrowser* browser, WallTime oldest, std::int64_t drills,
                              WeekTotals* totals);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_SERVE_WEEKS_H_
