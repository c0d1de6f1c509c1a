// Finds what most runs of a family ran on before a change of its rate, and not after. Pure.
#ifndef RHARNESS_HARNESS_INSIGHT_TRENDS_COINCIDENCES_H_
#define RHARNESS_HARNESS_INSIGHT_TRENDS_COINCIDENCES_H_

#include <vector>

#include "harness/insight/trends/stack.h"
#include "harness/insight/trends/tracks.h"
#include "reports/trends_report.h"

namespace rharness {

// Weeks of a change: the rate was the old one in [from, at), the new one in [at, to), and the
// change may lie in [earliest, latest].
struct ChangedWeeks {
  int from = 0;
  int at = 0;
  int to = 0;
  int earliest = 0;
  int latest = 0;
};

// Of an axis a coincidence is the value, of the first week that is surely new, whose share of the
// judged runs grew most, by half of them or more; before it stands the value, of the last week that
// is surely old, whose share fell most. A run has every value that it was rerun with. `cells`: of
// one family; `stacks`: by place.
std::vector<TrendCoincidence> CoincidencesOf(const Tracks& tracks,
                                             const std::vector<const TrackCell*>& cells,
                                             const std::vector<Stack>& stacks,
                                             const ChangedWeeks& weeks);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_TRENDS_COINCIDENCES_H_
