// Counting new drills into the totals.
#include "harness/insight/serve/weeks.h"

#include <algorithm>

namespace rharness {

Result<bool> CountNewVerdicts(HistoryBrowser* browser, WallTime oldest, std::int64_t drills,
                              WeekTotals* totals) {
  ASSIGN_OR_RETURN(const std::int64_t newest, browser->LastSequence());
  if (newest <= totals->sequence) return false;
  const std::int64_t last = std::min(newest, totals->sequence + drills);
  ASSIGN_OR_RETURN(const auto counts, browser->CountWeeks(totals->sequence, last));
  for (const WeekCount& one : counts) {
    FamilyWeeks& family = totals->families[one.family];
    if (one.count > 0 && (!family.judged || *family.judged < one.last)) family.judged = one.last;
    if (one.week < oldest) continue;
    const auto at = static_cast<std::size_t>(one.verdict);
    family.weeks[one.week][at] += one.count;
    totals->all[one.week][at] += one.count;
  }
  totals->sequence = last;
  return true;
}

}  // namespace rharness
