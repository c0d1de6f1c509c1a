// The families of a drill in words: joint verdicts on runs that differ in their seeds alone.
//
// Role: private to the drill's document; pure. Order and sentences are decided here, once.
#ifndef RHARNESS_REPORTS_FAMILIES_H_
#define RHARNESS_REPORTS_FAMILIES_H_

#include <string>
#include <vector>

#include "reports/model.h"

namespace rharness {

// Worst first, else as in the report.
std::vector<const FamilyComparison*> FamiliesByWorst(const Report& report);

// "The family mlp is equivalent." or "Of 3 families 1 drifted."; empty without any.
std::string FamilyAnswer(const Report& report);
// The next step for families that are not decided, or have drifted; empty if there is none.
std::string FamilyNextStep(const Report& report);

// "(numpy: 1.26.4 in A, 2.4.6 in B, and 3 more)"; empty for a cause without evidence.
std::string EvidenceOf(const Cause& cause);

// "24 runs", "23 runs, 1 apart".
std::string FamilyRuns(const FamilyComparison& family);
// One metric: its mean shift with the interval; its margin; the spread of the differences and that
// of the seeds.
std::string ShiftOf(const MetricDecision& metric);
std::string MarginOf(const MetricDecision& metric);
std::string SpreadOf(const MetricDecision& metric);

}  // namespace rharness

#endif  // RHARNESS_REPORTS_FAMILIES_H_
