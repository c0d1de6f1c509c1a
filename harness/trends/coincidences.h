// What most runs of a family ran on before a change of its rate, and not after. Pure.
#ifndef RHARNESS_HARNESS_TRENDS_COINCIDENCES_H_
#define RHARNESS_HARNESS_TRENDS_COINCIDENCES_H_

#include <vector>

#include "harness/trends/stack.h"
#include "harness/trends/tracks.h"
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

// Of an axis a coincidence is a value that is the commonest one in the last week that is surely old
// not any more in the first that is surely new, and whose successor gained half of the runs or
// more. `cells`: of one family; `stacks`: by place.
std::vector<TrendCoincidence> CoincidencesOf(const std::vector<const TrackCell*>& cells,
                                             const std::vector<Stack>& stacks,
                                             const ChangedWeeks& weeks);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRENDS_COINCIDENCES_H_
