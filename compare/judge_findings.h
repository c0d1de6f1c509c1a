// What the ladder of a comparison says when it decides, one function a kind of finding; private to
// it. Pure. None of them sets `decisive`: the rung does.
#ifndef RHARNESS_COMPARE_JUDGE_FINDINGS_H_
#define RHARNESS_COMPARE_JUDGE_FINDINGS_H_

#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.h"

namespace rharness {

Finding Reason(std::string code, std::string subject, std::string observed, std::string limit,
               std::string rule, std::string message, std::optional<Layer> layer = {});

// Vacuous curves and checkpoints, values beside the tensors; and what a rerun did not report, which
// never passes.
std::vector<Finding> FindAsides(const Comparison& comparison);

// A fact that is not the same on both sides. `rule`: why that counts; `consequence`: follows its
// key.
Finding FactFinding(const FactDifference& difference, std::string rule,
                    std::string_view consequence);

// Whatever was finite in A and is not in B, or the other way round for weights.
std::vector<Finding> FindNonFinite(const Comparison& comparison);

// Everything that counts and whose bits differ: checkpoints, curves, metrics, in this order. Of a
// run that is declared deterministic the code is "determinism_violation", else "bits_differ".
std::vector<Finding> FindDifferingBits(const Comparison& comparison);

// That all `count` things that were compared, or facts, are equal.
Finding EqualFinding(const Comparison& comparison, int count, bool facts);

// Of two environments or fingerprints, whose facts are all there is: one finding, or none.
std::vector<Finding> FindDifferingFacts(const Comparison& comparison);

// What the decision of one metric says: "metric_within", "metric_drifted", ...
Finding MetricFinding(const MetricDecision& metric);

// Fills more_reruns, more_runs and needs_confirmation: what would decide the metrics that are open.
void SetWhatIsMissing(Comparison* comparison);

// A curve beyond its band, with the numbers of its rule.
Finding BandFinding(const CurveComparison& curve);

// Curves that only advise and changed although all that decides is equal bit for bit: nothing then
// shows that rounding changed them. Empty where anything that decides differs.
std::vector<Finding> FindChangedAdvisers(const Comparison& comparison);

// A curve that differs and about which nothing can be said, or whose steps are on one side only;
// empty where nothing is open.
std::optional<Finding> OpenCurveFinding(const CurveComparison& curve);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_JUDGE_FINDINGS_H_
