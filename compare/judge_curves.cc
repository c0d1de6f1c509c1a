// The ladder's findings on curves: beyond their band, unexplained, open; see judge_findings.h.
#include <fmt/format.h>

#include <algorithm>

#include "compare/comparison_predicates.h"
#include "compare/judge_findings.h"

namespace rharness {

Finding UnexplainedFinding(const CurveComparison& curve, bool confirm) {
  return FindingReason(
      "curve_unexplained", "curve " + curve.name,
      fmt::format("{:.3g} times the band", curve.statistic), "1",
      "a curve that rounding does not explain passes nothing" +
          (curve.rule.empty() ? "" : "; " + curve.rule),
      curve.message + (confirm ? " One rerun shows it: a second one would confirm it."
                               : " The metrics do not decide it: replicates of the run would show "
                                 "whether rounding explains it (--replicates 3)."));
}

Finding SinglePairFinding() {
  return FindingReason("single_pair", "comparison", "one run a side", "two",
                       "a drift that was seen once is confirmed by another run",
                       "one pair shows this: a further run of B would confirm it");
}

Finding BandFinding(const CurveComparison& curve) {
  return FindingReason("curve_beyond_band", "curve " + curve.name,
                       fmt::format("{:.3g} times the band", curve.statistic), "1", curve.rule,
                       curve.message);
}

bool CurvesWithin(const Comparison& comparison, bool tested, int* within) {
  const bool losses = std::ranges::any_of(comparison.curves, [](const CurveComparison& curve) {
    return curve.kind == CurveKind::kLoss && !IsQuietlyVacuous(curve);
  });
  int advisers = 0;
  for (const CurveComparison& curve : comparison.curves) {
    if (curve.kind == CurveKind::kResource || IsQuietlyVacuous(curve)) continue;
    if (LeavesBand(curve)) return false;
    const bool loss = curve.kind == CurveKind::kLoss;
    const bool close = curve.state == CurveState::kIdentical || curve.state == CurveState::kWithin;
    if (close && !curve.MissesSteps()) {
      *within += Decides(curve);
    } else if (!tested && loss) {
      return false;
    } else if (!loss) {
      ++advisers;
    }
  }
  return losses || *within == 0 || advisers == 0 || tested;
}

std::vector<Finding> FindChangedAdvisers(const Comparison& comparison) {
  std::vector<Finding> changed;
  for (const CurveComparison& curve : comparison.curves) {
    if (curve.differing == 0 || curve.kind == CurveKind::kResource) continue;
    if (Decides(curve)) return {};
    changed.push_back(FindingReason(
        "curve_undecided", "curve " + curve.name,
        fmt::format("{} of {} steps", curve.differing, curve.steps.size()), "equal",
        "what changes while all that decides is equal is not rounding", curve.message));
  }
  for (const MetricDecision& metric : comparison.metrics) {
    if (IsUnjudged(metric, comparison)) changed.push_back(MetricFinding(metric));
  }
  const auto moved = [](const MetricDecision& metric) {
    return metric.primary && !IsEqual(metric);
  };
  const bool others = WeightsDiffer(comparison) || std::ranges::any_of(comparison.metrics, moved);
  return others ? std::vector<Finding>() : changed;
}

std::optional<Finding> OpenCurveFinding(const CurveComparison& curve) {
  const auto open = [&](std::string code, std::string message) {
    return FindingReason(std::move(code), "curve " + curve.name, {}, {},
                         "what decides must be equal, within or beyond", std::move(message));
  };
  if (curve.state == CurveState::kUndecided || curve.state == CurveState::kMissing) {
    return open("curve_undecided", curve.message);
  }
  if (curve.state == CurveState::kVacuous && !IsQuietlyVacuous(curve)) {
    return open("vacuous_curve", curve.message);
  }
  if (curve.MissesSteps() && curve.state != CurveState::kVacuous) {
    return open("steps_missing",
                fmt::format("{}: {} steps only in A and {} only in B; the common ones do not "
                            "differ beyond their band",
                            curve.name, curve.only_a, curve.only_b));
  }
  return std::nullopt;
}

}  // namespace rharness
