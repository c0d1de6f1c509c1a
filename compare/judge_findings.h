// The findings that decide a comparison, one function per kind; private to its ladder. Pure. None
// sets `decisive`: the rung does.
#ifndef RHARNESS_COMPARE_JUDGE_FINDINGS_H_
#define RHARNESS_COMPARE_JUDGE_FINDINGS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/comparison.h"

namespace rharness {

Finding FindingReason(std::string code, std::string subject, std::string observed,
                      std::string limit, std::string rule, std::string message,
                      std::optional<Layer> layer = {});

// Vacuous curves and checkpoints, values beside the tensors; and what a rerun did not report, which
// never passes.
std::vector<Finding> FindAsides(const Comparison& comparison);

// A fact that differs between the sides. `rule`: why that counts; `consequence`: follows its key.
Finding FactFinding(const FactDifference& difference, std::string rule,
                    std::string_view consequence);

// Values that are finite in A and not in B; for weights also the other way round.
std::vector<Finding> FindNonFinite(const Comparison& comparison);

// Everything that counts and whose bits differ: checkpoints, curves, metrics, in this order. The
// code is "determinism_violation" for a run declared deterministic, else "bits_differ".
std::vector<Finding> FindDifferingBits(const Comparison& comparison);

// States that all `count` compared things, or facts, are equal.
Finding EqualFinding(const Comparison& comparison, int count, bool facts);

// Whether nothing that decides differs; adds to `equal` the number of equal things that show it.
bool AllEqual(const Comparison& comparison, int* equal);

// For two environments or fingerprints, which have only facts: one finding, or none.
std::vector<Finding> FindDifferingFacts(const Comparison& comparison);

// The finding of one metric's decision: "metric_within", "metric_drifted", ...
Finding MetricFinding(const MetricDecision& metric);
// The same of a divergence over sequences.
Finding KlFinding(const MetricDecision& metric);

// Weights far from those of the other side although every loss, curve or metric, is bit-equal: a
// part of a checkpoint that is older than the rest, an average, another file. One finding per
// checkpoint. "Far" is generous, because it only withholds a pass: a tensor whose |a - b| is over
// 1e-4 of its norm and over a hundred times what the digits of the loss show (to first order a loss
// moves with its weights; a loss that moves by less than a hundredth of them is not plausible). If
// only digests are at hand, and so no distances, any difference counts, if the loss has the digits
// of a double.
inline constexpr std::string_view kWeightsContradictLosses = "weights_contradict_losses";
std::vector<Finding> FindContradiction(const Comparison& comparison);

// Two sides that share no tensor, curve, metric or fact: one finding, or none.
std::vector<Finding> FindNothingInCommon(const Comparison& comparison);

// Something that decides is on one side alone, could not be read, or contradicts the rest: no
// comparison passes with such a finding.
bool KeepsOpen(const Finding& finding);

// Fills more_reruns and more_runs, and adds to needs_confirmation: what would decide open
// questions.
void SetWhatIsMissing(Comparison* comparison);

// A curve beyond its band, with the numbers of its rule.
Finding BandFinding(const CurveComparison& curve);

// The same for an undecided curve. `confirm`: it was seen in one rerun alone; else the finding asks
// for replicates.
Finding UnexplainedFinding(const CurveComparison& curve, bool confirm);

// States that two things are one pair, and that nothing confirms a drift by a curve.
Finding SinglePairFinding();

// States that all `count` things that decide are equal, and this file differs, as its role allows.
Finding EqualButFinding(const CheckpointComparison& file, int count);

// Whether the curves that decide are equal or within their band; adds their number to `within`. An
// undecided curve that is no loss blocks a pass if there is no loss beside it; one that leaves its
// band always does. `tested`: a primary metric was, and open curves only advise.
bool CurvesWithin(const Comparison& comparison, bool tested, int* within);

// Curves that only advise, and metrics without a stated margin, that changed although all that
// decides is bit-equal: then nothing shows that rounding changed them. Empty if anything that
// decides differs.
std::vector<Finding> FindChangedAdvisers(const Comparison& comparison);

// "; metrics that differ and do not decide: f1 (0.9, then 0.1)": the end of the headline of a pass.
// Empty if there is no such metric.
std::string UnjudgedWords(const Comparison& comparison);

// A curve that differs without a conclusion, or whose steps are on one side only; empty if nothing
// is open.
std::optional<Finding> OpenCurveFinding(const CurveComparison& curve);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_JUDGE_FINDINGS_H_
