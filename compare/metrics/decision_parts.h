// What every decision of a metric records; private to this folder.
#ifndef RHARNESS_COMPARE_METRICS_DECISION_PARTS_H_
#define RHARNESS_COMPARE_METRICS_DECISION_PARTS_H_

#include <string_view>

#include "compare/metrics/decision.h"
#include "compare/stats/student_t.h"

namespace rharness {

inline constexpr double kTargetPower = 0.8;

// Appends a token to the decision's reason.
void AddReason(std::string_view token, MetricDecision* decision);

// The numbers of a test of the difference at the decision's margin and error rates.
// `per_deviation`: standard errors of the difference that one standard deviation of a run makes,
// sqrt(1/n + 1/k).
void RecordTest(const stats::MeanTest& test, double per_deviation, MetricDecision* decision);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_METRICS_DECISION_PARTS_H_
