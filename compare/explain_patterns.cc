// Causes from patterns: the origin of a difference from its shape in curves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "compare/explain_rules.h"

namespace rharness {
namespace {

// A difference from the first step on, or from a later one, points to arithmetic for losses that
// differ as rounding makes them; for others their shape is more telling; and nothing was shown for
// those that a band of further runs or a margin let pass or left open.
bool SpeaksOfArithmetic(const CurveComparison& curve) {
  return curve.nature == DifferenceNature::kRounding && curve.basis != "replicates" &&
         curve.basis != "rounding";
}

bool InputsAreEqual(const ExplainInput& in) { return in.equal.data && in.equal.code; }

void FromTheStart(const ExplainInput& in, CauseList* out) {
  const CurveComparison* curve = DifferingLoss(in.comparison);
  if (curve == nullptr || *curve->first_difference != curve->steps.front()) return;
  const double relative = RelativeAt(*curve, curve->steps.front());
  if (std::isnan(relative)) return;  // a value not logged as a number is no rounding
  const std::string evidence = fmt::format(
      "{} differs at its first step {} already, by {:.2g} "
      "relative",
      curve->name, curve->steps.front(), relative);
  if (relative > kBeyondRounding && curve->state == CurveState::kBeyond) {
    out->Add(
        CausePlace::kPattern,
        {"different_start",
         Layer::kRandomness,
         Strength::kLikely,
         InputsAreEqual(in)
             ? "The runs differ from the first step by more than rounding, with equal data and "
               "code: an initialisation or an order of the data that no seed fixes."
             : "The runs differ from the first step by more than rounding: another "
               "initialisation, data order or hyperparameter.",
         {evidence},
         "compare the checkpoints of step 0 and the first batches of both runs"});
  } else if (SpeaksOfArithmetic(*curve)) {
    out->Add(CausePlace::kPattern,
             {"arithmetic_from_start",
              Layer::kEnvironment,
              Strength::kLikely,
              "The first forward pass already rounds differently: another kernel, library or "
              "device.",
              {evidence},
              "rerun B in A's environment, one library put back at a time"});
  }
}

// Of runs that are equal before it.
Cause EventAt(const ExplainInput& in, std::int64_t step, std::vector<std::string> evidence) {
  const bool equal = InputsAreEqual(in);
  return {
      "event_at_step",
      equal ? Layer::kRandomness : Layer::kData,
      Strength::kLikely,
      fmt::format("Something happened just before step {}: {}.", step,
                  equal ? "with equal data and code, a draw or an order that no seed fixes, or "
                          "a restart"
                        : "another batch, a skipped or repeated step, a changed schedule, a "
                          "restart"),
      std::move(evidence),
      fmt::format("read both logs around step {}: restarts, data position, learning rate", step)};
}

void FromLater(const ExplainInput& in, CauseList* out) {
  const CurveComparison* curve = DifferingLoss(in.comparison);
  if (curve == nullptr || *curve->first_difference == curve->steps.front()) return;
  const std::int64_t first = *curve->first_difference;
  const double relative = RelativeAt(*curve, first);
  if (!std::isfinite(relative)) return;  // NotFinite covers it, or there is no conclusion
  const std::string evidence =
      fmt::format("{} is equal before step {} and differs by {:.2g} relative there", curve->name,
                  first, relative);
  const bool event =
      curve->nature == DifferenceNature::kShifted || curve->nature == DifferenceNature::kSpike;
  if (relative > kBeyondRounding && curve->state == CurveState::kBeyond && event) {
    out->Add(CausePlace::kPattern, EventAt(in, first, {evidence}));
  } else if (SpeaksOfArithmetic(*curve)) {
    out->Add(CausePlace::kPattern,
             {"arithmetic_later",
              Layer::kEnvironment,
              Strength::kLikely,
              "Start and data agree; the bits part later, as they do when sums are added in "
              "another order (another kernel, library or non-deterministic operation).",
              {evidence},
              "rerun A twice: if the two part alike, it is not deterministic"});
  }
}

void NotFinite(const ExplainInput& in, CauseList* out) {
  for (const CurveComparison& curve : in.comparison.curves) {
    if (curve.kind != CurveKind::kLoss || !curve.first_non_finite || curve.stopped_after) continue;
    out->Add(CausePlace::kPattern,
             {"became_non_finite",
              Layer::kEnvironment,
              Strength::kPossible,
              fmt::format("B stopped being finite at step {}: an overflow in a short format, "
                          "a bad batch, or a step too large.",
                          *curve.first_non_finite),
              {fmt::format("{} is finite there in A", curve.name)},
              fmt::format("rerun B from the checkpoint before step {}, with checks for "
                          "gradients that are not finite",
                          *curve.first_non_finite)});
    return;
  }
}

// Whether a hyperparameter turns dropout off.
bool HasNoDropout(const ExplainInput& in) {
  bool named = false;
  for (const Fact& fact : in.facts_a) {
    if (!fact.key.starts_with("hyperparameter.")) continue;
    if (fact.key.find("dropout") == fact.key.npos) continue;
    if (fact.value != "0" && fact.value != "0.0") return false;
    named = true;
  }
  return named;
}

Cause OtherBatches(const ExplainInput& in, std::vector<std::string> evidence) {
  const bool equal = InputsAreEqual(in);
  const std::string stream =
      HasNoDropout(in) ? "sampling or masks" : "sampling, masks, dropout if there is any";
  return {"other_batches",
          equal ? Layer::kRandomness : Layer::kData,
          Strength::kLikely,
          equal
              ? fmt::format("The loss moves from step to step as on other batches, with equal data "
                            "and code: an order of batches or a stream of random numbers ({}) "
                            "that no seed fixes.",
                            stream)
              : fmt::format("The loss moves from step to step as on other batches: another data "
                            "order, other data, another seed, or in a small model another stream "
                            "of random numbers ({}).",
                            stream),
          std::move(evidence),
          "compare the first batches of both runs, the data's hashes and the seeds"};
}

// A loss that moved with equal code and command: other inputs that control training.
constexpr char kFromOutside[] =
    "a setting that comes from elsewhere than the recorded code and command (a variable, a file "
    "that nothing declares, the default of a library)";

Cause ProgressChanged(const ExplainInput& in, const CurveComparison& curve,
                      std::vector<std::string> evidence) {
  return {"progress_changed",
          in.equal.code ? Layer::kEnvironment : Layer::kCode,
          Strength::kLikely,
          fmt::format("B trains as if its steps were {:.2g} % {}: {}.",
                      100.0 * std::abs(curve.progress), curve.progress < 0 ? "smaller" : "larger",
                      in.equal.code ? std::string(kFromOutside)
                                    : "learning rate, batch size or optimizer settings rather than "
                                      "arithmetic"),
          std::move(evidence),
          "compare learning-rate schedule, batch size and optimizer settings of both runs"};
}

Cause TrainingChanged(const ExplainInput& in, std::vector<std::string> evidence) {
  return {"training_changed",
          in.equal.code ? Layer::kEnvironment : Layer::kCode,
          Strength::kLikely,
          fmt::format("The loss moved in one direction further than rounding carries it: {}.",
                      in.equal.code ? std::string(kFromOutside) + ", or what no seed fixes"
                                    : "hyperparameter, data or schedule rather than arithmetic"),
          std::move(evidence),
          "compare hyperparameters, learning-rate schedule and data order of both runs"};
}

// A spike of runs that had parted before it: the training amplified an existing difference.
Cause Amplified(const CurveComparison& curve, std::vector<std::string> evidence) {
  return {"difference_grew",
          Layer::kEnvironment,
          Strength::kPossible,
          fmt::format("The runs diverge at step {}, and the loss leaves its limit at step {}: look "
                      "for a difference at the former.",
                      *curve.first_difference, curve.first_beyond.value_or(0)),
          std::move(evidence),
          fmt::format("compare both runs at step {}", *curve.first_difference)};
}

// A loss beyond its limit, by the nature of the difference.
Cause CauseOfNature(const ExplainInput& in, const CurveComparison& curve) {
  const std::string evidence =
      fmt::format("{} leaves its limit at step {}, {:.3g} times the limit at most", curve.name,
                  curve.first_beyond.value_or(0), curve.statistic);
  switch (curve.nature) {
    case DifferenceNature::kOtherBatches:
      return OtherBatches(in, {evidence, curve.message});
    case DifferenceNature::kProgress:
      return ProgressChanged(in, curve, {evidence, curve.message});
    case DifferenceNature::kSpike:
      return curve.first_difference && curve.first_difference < curve.first_beyond
                 ? Amplified(curve, {evidence, curve.message})
                 : EventAt(in, curve.first_beyond.value_or(0), {evidence, curve.message});
    default:
      return TrainingChanged(in, {evidence});
  }
}

// What became no number was beyond its limit by that alone, unless it was so before.
bool IsBeyondByNonFinite(const CurveComparison& curve) {
  return curve.first_non_finite &&
         (!curve.first_beyond || *curve.first_beyond >= *curve.first_non_finite);
}

void BeyondBand(const ExplainInput& in, CauseList* out) {
  for (const CurveComparison& curve : in.comparison.curves) {
    if (curve.kind != CurveKind::kLoss || curve.state != CurveState::kBeyond) continue;
    if (IsBeyondByNonFinite(curve)) continue;  // NotFinite speaks of it
    Cause cause = CauseOfNature(in, curve);
    if (!out->Has(cause.code)) out->Add(CausePlace::kPattern, std::move(cause));
    return;
  }
}

// A loss that differs from the start without a direction, small beside its batches.
void NewStream(const ExplainInput& in, CauseList* out) {
  for (const CurveComparison& curve : in.comparison.curves) {
    if (curve.nature != DifferenceNature::kNewStream) continue;
    out->Add(CausePlace::kPattern,
             {"random_stream",
              Layer::kRandomness,
              Strength::kLikely,
              fmt::format("Random numbers are drawn in another order ({}): the batches are the "
                          "same, and the difference has no direction.",
                          HasNoDropout(in) ? "sampling, masks"
                                           : "sampling, masks, dropout if there is any"),
              {curve.message},
              "rerun both without what draws them: if they agree to rounding, it was this"});
    return;
  }
}

void Schedule(const ExplainInput& in, CauseList* out) {
  for (const CurveComparison& curve : in.comparison.curves) {
    const bool schedule = curve.name.find("learning") != curve.name.npos ||
                          curve.name.find("warmup") != curve.name.npos || curve.name == "lr" ||
                          curve.name.ends_with("/lr") ||
                          curve.name.find("batch") != curve.name.npos;
    if (!schedule || !curve.first_difference) continue;
    out->Add(CausePlace::kSchedule, {"schedule_changed",
                                     Layer::kCode,
                                     Strength::kShown,
                                     fmt::format("{} is not the same from step {} on.", curve.name,
                                                 *curve.first_difference),
                                     {curve.message},
                                     "compare the two runs' hyperparameters"});
  }
}

}  // namespace

const CurveComparison* DifferingLoss(const Comparison& comparison) {
  for (const CurveComparison& curve : comparison.curves) {
    if (curve.kind == CurveKind::kLoss && curve.first_difference && !curve.steps.empty()) {
      return &curve;
    }
  }
  return nullptr;
}

double RelativeAt(const CurveComparison& curve, std::int64_t step) {
  const auto at = std::ranges::lower_bound(curve.steps, step);
  if (at == curve.steps.end()) return 0.0;
  const auto i = static_cast<std::size_t>(at - curve.steps.begin());
  return std::abs(curve.b[i] - curve.a[i]) / std::abs(curve.a[i]);
}

const std::vector<ExplainRule>& PatternRules() {
  static const std::vector<ExplainRule> rules = {FromTheStart, FromLater,   NotFinite, BeyondBand,
                                                 NewStream,    AnotherSeed, Schedule};
  return rules;
}

}  // namespace rharness
