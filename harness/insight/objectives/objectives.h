// Measures the policy's objectives of families from the stored verdicts of a period.
//
// Role: reads the history, decides which objective is met, and words it in sentences; the writers
// in reports/objectives_report.h lay it out. Reruns and writes nothing.
// Source: Google SRE Workbook, chapter 5, scaled to the volume of reruns (reproducible_rate.h).
#ifndef RHARNESS_HARNESS_INSIGHT_OBJECTIVES_OBJECTIVES_H_
#define RHARNESS_HARNESS_INSIGHT_OBJECTIVES_OBJECTIVES_H_

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/history/store.h"
#include "harness/records/policy/policy.h"
#include "reports/objectives_report.h"

namespace rharness {

// Every family with runs that are not retired, also those without an objective; the worst first,
// then by name. Fills all but `version`, `history` and `policy`. In a period a run counts once, by
// its last verdict; a failed or drifted run is bad; an inconclusive or not comparable one is open,
// which no rate hides: the worst case beside it counts it as bad. A run is broken, and a violation,
// from a bad verdict until a good one comes. exit_code: 0 all objectives are met, 1 one is missed
// or its budget burns, 3 else (one is unknown). Errors: those of the history.
Result<ObjectivesReport> MeasureObjectives(HistoryStore* history, const Policy& policy,
                                           WallTime now);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_OBJECTIVES_OBJECTIVES_H_
