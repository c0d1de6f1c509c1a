// Verdicts by week and family, counted once and then updated.
//
// Role: a million verdicts cannot be counted for each page, and counted ones never change, so only
// those of new drills are read. Not here: threads; the pages.
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
  std::int64_t sequence = 0;  // of the last counted drill
};

// Adds the verdicts of the next `drills` drills; ignores weeks before `oldest` and verdicts with
// unknown names. Returns whether there was anything. Errors: the browser's; then nothing changes.
Result<bool> CountNewVerdicts(HistoryBrowser* browser, WallTime oldest, std::int64_t drills,
                              WeekTotals* totals);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_SERVE_WEEKS_H_
