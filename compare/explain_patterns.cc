// Causes from patterns: what the shape of a difference in tensors and curves says of its origin.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "compare/explain_rules.h"
#include "harness/base/shell_word.h"

namespace rharness {
namespace {

// The first loss that differs, which is where a training run shows when it parted.
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

// What a difference from the first step on, or from a later one, says of arithmetic, it says of
// losses that differ as rounding makes them; of others their shape says more, and of those that a
// band of further runs or a margin let pass or left open nothing was shown.
bool SpeaksOfArithmetic(const CurveComparison& curve) {
  return curve.nature == DifferenceNature::kRounding && curve.basis != "replicates" &&
         curve.basis != "rounding";
}

// Above this relative difference a first logged loss is no matter of rounding in any precision that
// people train in: bf16 rounds at 2^-9, and a loss averages thousands of such errors.
constexpr double kBeyondRounding = 1e-3;

void FromTheStart(const ExplainInput& in, std::vector<Cause>* out) {
  const CurveComparison* curve = DifferingLoss(in.comparison);
  if (curve == nullptr || *curve->first_difference != curve->steps.front()) return;
  const double relative = RelativeAt(*curve, curve->steps.front());
  if (std::isnan(relative)) return;  // what was not logged as a number is no rounding
  const std::string evidence = fmt::format(
      "{} differs at its first step {} already, by {:.2g} "
      "relative",
      curve->name, curve->steps.front(), relative);
  if (relative > kBeyondRounding && curve->state == CurveState::kBeyond) {
    out->push_back({"different_start",
                    Layer::kRandomness,
                    "likely",
                    "The runs differ from the first step by more than rounding: another "
                    "initialisation, data order or hyperparameter.",
                    {evidence},
                    "compare the checkpoints of step 0 and the first batches of both runs"});
  } else if (SpeaksOfArithmetic(*curve)) {
    out->push_back({"arithmetic_from_start",
                    Layer::kEnvironment,
                    "likely",
                    "The first forward pass already rounds differently: another kernel, library or "
                    "device.",
                    {evidence},
                    "rerun B in A's environment, one library put back at a time"});
  }
}

void FromLater(const ExplainInput& in, std::vector<Cause>* out) {
  const CurveComparison* curve = DifferingLoss(in.comparison);
  if (curve == nullptr || *curve->first_difference == curve->steps.front()) return;
  const std::int64_t first = *curve->first_difference;
  const double relative = RelativeAt(*curve, first);
  if (!std::isfinite(relative)) return;  // NotFinite speaks of it, or nothing can be said
  const std::string evidence =
      fmt::format("{} is equal before step {} and differs by {:.2g} relative there", curve->name,
                  first, relative);
  const bool event =
      curve->nature == DifferenceNature::kShifted || curve->nature == DifferenceNature::kSpike;
  if (relative > kBeyondRounding && curve->state == CurveState::kBeyond && event) {
    out->push_back({"event_at_step",
                    Layer::kData,
                    "likely",
                    fmt::format("Something happened just before step {}: another batch, a skipped "
                                "or repeated step, a changed schedule, a restart.",
                                first),
                    {evidence},
                    fmt::format("read both logs around step {}: restarts, data position, learning "
                                "rate",
                                first)});
  } else if (SpeaksOfArithmetic(*curve)) {
    out->push_back({"arithmetic_later",
                    Layer::kEnvironment,
                    "likely",
                    "Start and data agree; the bits part later, as they do when sums are added in "
                    "another order (another kernel, library or non-deterministic operation).",
                    {evidence},
                    "rerun A twice: if the two part alike, it is not deterministic"});
  }
}

void NotFinite(const ExplainInput& in, std::vector<Cause>* out) {
  for (const CurveComparison& curve : in.comparison.curves) {
    if (curve.kind != CurveKind::kLoss || !curve.first_non_finite || curve.stopped_after) continue;
    out->push_back({"became_non_finite",
                    Layer::kEnvironment,
                    "possible",
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

// A loss beyond its limit, by what the difference looks like.
Cause CauseOfNature(const CurveComparison& curve) {
  const std::string evidence =
      fmt::format("{} leaves its limit at step {}, {:.3g} times the limit at most", curve.name,
                  curve.first_beyond.value_or(0), curve.statistic);
  switch (curve.nature) {
    case DifferenceNature::kOtherBatches:
      return {"other_batches",
              Layer::kData,
              "likely",
              "The loss moves from step to step as on other batches: another data order, other "
              "data or masks, another seed, or in a small model another stream of dropout.",
              {evidence, curve.message},
              "compare the first batches of both runs, the data's hashes and the seeds"};
    case DifferenceNature::kProgress:
      return {
          "progress_changed",
          Layer::kCode,
          "likely",
          fmt::format("B trains as if its steps were {:.2g} % {}: learning rate, batch size "
                      "or optimizer settings rather than arithmetic.",
                      100.0 * std::abs(curve.progress), curve.progress < 0 ? "smaller" : "larger"),
          {evidence, curve.message},
          "compare learning-rate schedule, batch size and optimizer settings of both runs"};
    case DifferenceNature::kSpike:
      return {"event_at_step",
              Layer::kData,
              "likely",
              fmt::format("Something happened at step {}: a bad batch, a skipped or repeated "
                          "step, a restart.",
                          curve.first_beyond.value_or(0)),
              {evidence, curve.message},
              "read both logs around that step: restarts, data position, learning rate"};
    default:
      return {"training_changed",
              Layer::kCode,
              "likely",
              "The loss moved in one direction further than rounding carries it: "
              "hyperparameter, data or schedule rather than arithmetic.",
              {evidence},
              "compare hyperparameters, learning-rate schedule and data order of both runs"};
  }
}

void BeyondBand(const ExplainInput& in, std::vector<Cause>* out) {
  for (const CurveComparison& curve : in.comparison.curves) {
    if (curve.kind != CurveKind::kLoss || curve.state != CurveState::kBeyond) continue;
    if (curve.first_non_finite && curve.basis == "none") continue;  // NotFinite speaks of it
    Cause cause = CauseOfNature(curve);
    const bool said =
        std::ranges::any_of(*out, [&](const Cause& other) { return other.code == cause.code; });
    if (!said) out->push_back(std::move(cause));
    return;
  }
}

// A loss that differs from the start without a direction, small beside its batches.
void NewStream(const ExplainInput& in, std::vector<Cause>* out) {
  for (const CurveComparison& curve : in.comparison.curves) {
    if (curve.nature != DifferenceNature::kNewStream) continue;
    out->push_back({"random_stream",
                    Layer::kRandomness,
                    "likely",
                    "Random numbers are drawn in another order (dropout, sampling): the batches "
                    "are the same, and the difference has no direction.",
                    {curve.message},
                    "rerun both without dropout: if they agree to rounding, it was this"});
    return;
  }
}

void Schedule(const ExplainInput& in, std::vector<Cause>* out) {
  for (const CurveComparison& curve : in.comparison.curves) {
    const bool schedule = curve.name.find("learning") != curve.name.npos ||
                          curve.name.find("warmup") != curve.name.npos || curve.name == "lr" ||
                          curve.name.ends_with("/lr") ||
                          curve.name.find("batch") != curve.name.npos;
    if (!schedule || !curve.first_difference) continue;
    out->push_back(
        {"schedule_changed",
         Layer::kCode,
         "shown",
         fmt::format("{} is not the same from step {} on.", curve.name, *curve.first_difference),
         {curve.message},
         "compare the two runs' hyperparameters"});
  }
}

// Only one role of a checkpoint differs.
void Roles(const ExplainInput& in, std::vector<Cause>* out) {
  bool weights_equal = false, weights_differ = false, others_differ = false;
  for (const CheckpointComparison& checkpoint : in.comparison.checkpoints) {
    if (checkpoint.difference.vacuous) continue;
    const bool equal = checkpoint.difference.bit_equal;
    if (!checkpoint.weights) {
      others_differ |= !equal;
    } else {
      (equal ? weights_equal : weights_differ) = true;
    }
  }
  if (!weights_equal || weights_differ || !others_differ) return;
  out->push_back({"only_optimizer_state",
                  Layer::kCode,
                  "likely",
                  "The weights are equal and only optimizer state differs: it was saved at another "
                  "moment, in another precision, or reset.",
                  {"every weight is equal bit for bit"},
                  "compare the step counters of both checkpoints"});
}

// Values that a checkpoint keeps beside its tensors: a step counter, a learning rate.
void CarriedState(const ExplainInput& in, std::vector<Cause>* out) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> evidence;
  for (const CheckpointComparison& checkpoint : in.comparison.checkpoints) {
    for (const std::string& line : checkpoint.metadata) {
      if (evidence.size() < kMost) evidence.push_back(line);
    }
  }
  if (evidence.empty()) return;
  out->push_back({"recorded_state", Layer::kCode, "possible",
                  "The checkpoints hold other values beside their tensors: another step, setting "
                  "or writer.",
                  std::move(evidence), "compare the two runs' step and settings when they saved"});
}

const CheckpointComparison* DifferingWeights(const Comparison& comparison) {
  for (const CheckpointComparison& checkpoint : comparison.checkpoints) {
    if (checkpoint.weights && !checkpoint.difference.bit_equal) return &checkpoint;
  }
  return nullptr;
}

void SingleElement(const ExplainInput& in, std::vector<Cause>* out) {
  const CheckpointComparison* checkpoint = DifferingWeights(in.comparison);
  if (checkpoint == nullptr || checkpoint->from_digests) return;
  const auto& differing = checkpoint->difference.differing;
  if (differing.size() != 1 || differing.front().differing != 1) return;
  const TensorDifference& tensor = differing.front();
  // Of a step counter or a bias of two, one element is a large part.
  constexpr std::uint64_t kMany = 1000;
  if (tensor.elements < kMany) return;
  out->push_back(
      {"single_element",
       Layer::kHardware,
       "likely",
       "One element of one tensor differs; arithmetic never does that. A flipped bit in "
       "memory or storage, or an edit.",
       {fmt::format("{}[{}] alone of {} elements, {} ULP apart", tensor.name, tensor.first_index,
                    checkpoint->difference.elements, tensor.max_ulp)},
       "fetch the file again from its source and hash it; read the ECC counters"});
}

void Unrelated(const ExplainInput& in, std::vector<Cause>* out) {
  const CheckpointComparison* checkpoint = DifferingWeights(in.comparison);
  if (checkpoint == nullptr || checkpoint->from_digests) return;
  // Vectors of 1,000 independent entries have a cosine of 0.03; trained weights of one run stay
  // far above a half.
  constexpr std::uint64_t kEnough = 1000;
  const TensorDifference* worst = nullptr;
  for (const TensorDifference& tensor : checkpoint->difference.differing) {
    if (tensor.elements < kEnough || !(tensor.cosine < 0.5)) continue;
    if (worst == nullptr || tensor.cosine < worst->cosine) worst = &tensor;
  }
  if (worst == nullptr) return;
  out->push_back({"unrelated_weights",
                  Layer::kRandomness,
                  "likely",
                  "Weights point in unrelated directions: another seed, another initialisation or "
                  "another model, not another rounding.",
                  {fmt::format("{}: cosine {:.3g} over {} elements", worst->name, worst->cosine,
                               worst->elements)},
                  "compare seeds and the checkpoints of step 0"});
}

void LastBits(const ExplainInput& in, std::vector<Cause>* out) {
  const CheckpointComparison* checkpoint = DifferingWeights(in.comparison);
  if (checkpoint == nullptr || checkpoint->from_digests) return;
  const auto& differing = checkpoint->difference.differing;
  if (differing.empty()) return;
  std::uint64_t max_ulp = 0, elements = 0;
  for (const TensorDifference& tensor : differing) {
    max_ulp = std::max(max_ulp, tensor.max_ulp);
    elements += tensor.differing;
  }
  if (elements < 2 || max_ulp > 2 || max_ulp == 0) return;
  out->push_back({"last_bit",
                  Layer::kEnvironment,
                  "likely",
                  "Every difference is in the last bit or two: one rounding more or less, such as "
                  "a conversion or a fused multiply-add in the last step.",
                  {fmt::format("{} elements differ, by at most {} ULP", elements, max_ulp)},
                  "compare how both checkpoints were saved: dtype, conversion, averaging"});
}

void NamesOrTypes(const ExplainInput& in, std::vector<Cause>* out) {
  for (const CheckpointComparison& checkpoint : in.comparison.checkpoints) {
    const CheckpointDifference& difference = checkpoint.difference;
    if (!difference.shape_or_dtype.empty()) {
      const std::string& first = checkpoint.first_shape_or_dtype.empty()
                                     ? difference.shape_or_dtype.front()
                                     : checkpoint.first_shape_or_dtype;
      out->push_back({"shape_or_dtype",
                      Layer::kCode,
                      "shown",
                      "Tensors have another shape or dtype: the model or the saved precision "
                      "changed.",
                      {fmt::format("{} of {}, first {}", difference.shape_or_dtype.size(),
                                   checkpoint.subject, first)},
                      "compare the two model configurations, and how the checkpoints were saved"});
    }
    // What Tied explains needs no further cause.
    if (difference.only_a.size() + difference.only_b.size() == checkpoint.tied.size()) continue;
    const std::string& first =
        difference.only_a.empty() ? difference.only_b.front() : difference.only_a.front();
    std::string strip = fmt::format("rharness compare {} {}", ShellWord(in.comparison.a.path),
                                    ShellWord(in.comparison.b.path));
    for (const std::string& one : checkpoint.prefixes) {
      strip += " --strip-prefix " + ShellWord(one);
    }
    out->push_back({"tensor_names",
                    Layer::kCode,
                    "shown",
                    "The two checkpoints do not hold the same tensors.",
                    {fmt::format("{}: {} only in A, {} only in B, first {}", checkpoint.subject,
                                 difference.only_a.size(), difference.only_b.size(), first)},
                    checkpoint.prefixes.empty() ? "compare the two model definitions" : strip});
  }
}

void Tied(const ExplainInput& in, std::vector<Cause>* out) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> evidence;
  for (const CheckpointComparison& checkpoint : in.comparison.checkpoints) {
    for (const TiedTensor& tensor : checkpoint.tied) {
      if (evidence.size() == kMost) break;
      const char side = tensor.in_a ? 'A' : 'B';
      evidence.push_back(fmt::format(
          "{}, which only {} stores, is bit-equal to {} of {}, which both have and is equal",
          tensor.name, side, tensor.same_as, side));
    }
  }
  if (evidence.empty()) return;
  out->push_back({"tied_weights", Layer::kCode, "likely",
                  "What one side alone stores repeats another tensor of that side: a tied (shared) "
                  "weight, stored once by one writer and twice by the other.",
                  std::move(evidence),
                  "see that both models tie them (tie_word_embeddings): one that does not would "
                  "start the missing tensor anew"});
}

}  // namespace

const std::vector<ExplainRule>& PatternRules() {
  static const std::vector<ExplainRule> rules = {
      FromTheStart, FromLater,    NotFinite,     BeyondBand, NewStream, AnotherSeed,  Schedule,
      Roles,        CarriedState, SingleElement, Unrelated,  LastBits,  NamesOrTypes, Tied};
  return rules;
}

}  // namespace rharness
