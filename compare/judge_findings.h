// What the ladder of a comparison says when it decides, one function a kind of finding; private to
// it. Pure. None of them sets `decisive`: the rung does.
#ifndef RHARNESS_COMPARE_JUDGE_FINDINGS_H_
#define RHARNESS_COMPARE_JUDGE_FINDINGS_H_

#include <optional>
#include <string>
#include <string_view>
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

// Whether nothing that decides differs; adds to `equal` how many things are equal and show it.
bool AllEqual(const Comparison& comparison, int* equal);

// Of two environments or fingerprints, whose facts are all there is: one finding, or none.
std::vector<Finding> FindDifferingFacts(const Comparison& comparison);

// What the decision of one metric says: "metric_within", "metric_drifted", ...
Finding MetricFinding(const MetricDecision& metric);

// Weights that are far from those of the other side although every loss, curve or metric, is equal
// bit for bit: a part of a checkpoint that is older than the rest, an average, another file. One
// finding a checkpoint. What is far is taken generously, because nothing but a pass is withheld by
// it: a tensor of which |a - b| is over 1e-4 of its norm and over a hundred times what the digits
// of the loss show (to first order a loss moves with its weights; that it moves by less than a
// hundredth of what they do is what is not believed). Where digests alone are at hand, and so
// distances are not known, any difference, if the loss has the digits of a double.
inline constexpr std::string_view kWeightsContradictLosses = "weights_contradict_losses";
std::vector<Finding> FindContradiction(const Comparison& comparison);

// Something that decides is on one side alone, could not be read, or contradicts the rest: with
// such a finding nothing passes.
bool KeepsOpen(const Finding& finding);

// Fills more_reruns and more_runs, and adds to needs_confirmation: what would decide what is open.
void SetWhatIsMissing(Comparison* comparison);

// A curve beyond its band, with the numbers of its rule.
Finding BandFinding(const CurveComparison& curve);

// The same where it is open. `confirm`: because it was seen in one rerun alone; else replicates are
// asked for.
Finding UnexplainedFinding(const CurveComparison& curve, bool confirm);

// That two things are one pair, of which nothing confirms a drift by a curve.
Finding SinglePairFinding();

// That all `count` things that decide are equal, and this file, which may differ, is not.
Finding EqualButFinding(const CheckpointComparison& file, int count);

// Whether the curves that decide are equal or within their band; adds to `within` how many. What is
// no loss and stays open stands in the way where there is no loss beside it; what leaves its band
// always does. `tested`: a primary metric was, beside which open curves advise.
bool CurvesWithin(const Comparison& comparison, bool tested, int* within);

// Curves that only advise and changed although all that decides is equal bit for bit: nothing then
// shows that rounding changed them. Empty where anything that decides differs.
std::vector<Finding> FindChangedAdvisers(const Comparison& comparison);

// A curve that differs and about which nothing can be said, or whose steps are on one side only;
// empty where nothing is open.
std::optional<Finding> OpenCurveFinding(const CurveComparison& curve);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_JUDGE_FINDINGS_H_
