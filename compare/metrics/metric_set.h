// All metrics of one run together: which shifts count when several were tested.
//
// Role: from single decisions to adjusted p-values and one overall verdict. Drift over the primary
// metrics is claimed family-wise (Holm); over the secondary ones it is advice at a false discovery
// rate (Benjamini-Hochberg). "All within" needs no correction: every single test must show it
// (intersection-union).
// Source: Holm 1979; Benjamini and Hochberg 1995; Berger 1982 (doi:10.1080/00401706.1982.10487790).
#ifndef RHARNESS_COMPARE_METRICS_METRIC_SET_H_
#define RHARNESS_COMPARE_METRICS_METRIC_SET_H_

#include <vector>

#include "compare/metrics/decision.h"

namespace rharness {

struct MetricSetDecision {
  MetricVerdict verdict = MetricVerdict::kInconclusive;  // of the primary metrics
  std::vector<double> adjusted_p;  // Holm for primary, BH for secondary, in their order
  std::vector<bool> significant;   // adjusted_p below its rate, or not finite where it was
  bool confirmation_due = false;   // a primary shift rests on a single rerun
};

// A metric that could not be tested counts as p = 1, a non-finite rerun as p = 0 without using up
// any of the error rate. The family-wise rate is the smallest alpha_drift of the primary metrics.
// Verdict: a significant primary drift is drifted; else one that needs confirmation needs it; else
// all primary within is within; else inconclusive, as it is without primary metrics.
MetricSetDecision DecideMetricSet(const std::vector<MetricDecision>& metrics,
                                  double false_discovery_rate = 0.05);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_METRICS_METRIC_SET_H_
