// From counts of a family to what it keeps of its objective. Pure.
#ifndef RHARNESS_HARNESS_INSIGHT_OBJECTIVES_FAMILY_CHECKS_H_
#define RHARNESS_HARNESS_INSIGHT_OBJECTIVES_FAMILY_CHECKS_H_

#include <string>
#include <vector>

#include "compare/metrics/reproducible_rate.h"
#include "harness/base/result.h"
#include "harness/records/policy/policy.h"
#include "reports/objectives_report.h"

namespace rharness {

// Runs of the windows that the alarms look at: of a period of 28 days 7 days, 1 day and 6 hours,
// and of another one the same shares of it.
struct AlarmWindows {
  VerdictCounts week;
  VerdictCounts day;
  VerdictCounts hours;
};

// Fills rate, interval and worst case from good, bad and open, and the interval of rollbacks from
// theirs.
void FillRate(FamilyObjectives* family);
// Fills alarms, budget_left and checks; needs everything else. Errors: invalid_input (counts that
// are none).
Status CheckFamily(const Objective& objective, const AlarmWindows& windows,
                   FamilyObjectives* family);

// Objectives that ask for a page which can never come, a sentence each. Where every run is bad the
// budget burns 1 / (1 - reproducible) times as fast as it lasts, and a page needs more than 2.8;
// nothing but reproducible pages.
std::vector<std::string> FindIdlePages(const Policy& policy);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_OBJECTIVES_FAMILY_CHECKS_H_
