// From counts of a family to the state of its objectives. Pure.
#ifndef RHARNESS_HARNESS_INSIGHT_OBJECTIVES_FAMILY_CHECKS_H_
#define RHARNESS_HARNESS_INSIGHT_OBJECTIVES_FAMILY_CHECKS_H_

#include <string>
#include <vector>

#include "compare/metrics/reproducible_rate.h"
#include "harness/base/result.h"
#include "harness/records/policy/policy.h"
#include "reports/objectives_report.h"

namespace rharness {

// Runs of the alarms' windows: for a period of 28 days 7 days, 1 day and 6 hours, and the same
// shares of any other period.
struct AlarmWindows {
  VerdictCounts week;
  VerdictCounts day;
  VerdictCounts hours;
};

// Fills rate, interval and worst case from good, bad and open, and the interval of rollbacks from
// theirs.
void FillRate(FamilyObjectives* family);
// Fills alarms, budget_left and checks; needs everything else. Errors: invalid_input (invalid
// counts).
Status CheckFamily(const Objective& objective, const AlarmWindows& windows,
                   FamilyObjectives* family);

// Objectives with a page that can never fire, a sentence each. If every run is bad the budget burns
// 1 / (1 - reproducible) times as fast as it lasts, and a page needs more than 2.8; only
// reproducible pages.
std::vector<std::string> FindIdlePages(const Policy& policy);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_OBJECTIVES_FAMILY_CHECKS_H_
