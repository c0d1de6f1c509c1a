// The finding of a divergence over sequences; see judge_findings.h.
#include <fmt/format.h>

#include "compare/comparison_predicates.h"
#include "compare/judge_findings.h"
#include "compare/tokens/decide_kl.h"

namespace rharness {

Finding KlFinding(const MetricDecision& metric) {
  return FindingReason(
      fmt::format("metric_{}", MetricVerdictName(metric.verdict)), "metric " + metric.name,
      IsTested(metric)
          ? fmt::format("{:.4g} [{:.4g}, {:.4g}]", metric.difference, metric.ci_low, metric.ci_high)
          : fmt::format("{:.4g}", metric.difference),
      metric.margin > 0 ? fmt::format("below {:.4g}", metric.margin) : "no margin",
      fmt::format("k3 by sequences, drift at {:g}, equivalence at {:g}", metric.alpha_drift,
                  metric.alpha_equivalence),
      KlMessage(metric));
}

}  // namespace rharness
