// Causes from tensors: which of them differ, in how many elements, and how far.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compare/explain_rules.h"
#include "harness/base/shell_word.h"

namespace rharness {
namespace {

// Only one role of a checkpoint differs.
void Roles(const ExplainInput& in, CauseList* out) {
  bool weights_equal = false, weights_differ = false, others_differ = false;
  for (const CheckpointComparison& checkpoint : in.comparison.checkpoints) {
    // The content of a file that no reader opens is unknown.
    if (checkpoint.difference.vacuous || checkpoint.is_file) continue;
    const bool equal = checkpoint.difference.bit_equal;
    if (!checkpoint.weights) {
      others_differ |= !equal;
    } else {
      (equal ? weights_equal : weights_differ) = true;
    }
  }
  if (!weights_equal || weights_differ || !others_differ) return;
  out->Add(CausePlace::kBits,
           {"only_optimizer_state",
            Layer::kCode,
            Strength::kLikely,
            "The weights are equal and only optimizer state differs: it was saved at another "
            "moment, in another precision, or reset.",
            {"every weight is equal bit for bit"},
            "compare the step counters of both checkpoints"});
}

// All that is read is equal, and a file that no reader opens is not.
void FilesAlone(const ExplainInput& in, CauseList* out) {
  std::vector<std::string> files;
  for (const CheckpointComparison& one : in.comparison.checkpoints) {
    if (one.difference.bit_equal || !one.matters) continue;
    if (!one.is_file) return;
    files.push_back(one.subject);
  }
  const auto moved = [](const CurveComparison& curve) { return curve.differing > 0; };
  if (files.empty() || std::ranges::any_of(in.comparison.curves, moved)) return;
  const std::string sentence = fmt::format(
      "Only {} differs, and no reader opens it: a date, a duration or an address in it "
      "is enough.",
      files.front());
  out->Add(CausePlace::kBits,
           {"file_alone", Layer::kCode, Strength::kPossible, sentence, std::move(files),
            "declare it with --artifact log=PATH if it may differ, or write it without them"});
}

// Values that a checkpoint keeps beside its tensors: a step counter, a learning rate.
void CarriedState(const ExplainInput& in, CauseList* out) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> evidence;
  for (const CheckpointComparison& checkpoint : in.comparison.checkpoints) {
    for (const std::string& line : checkpoint.metadata) {
      if (evidence.size() < kMost) evidence.push_back(line);
    }
  }
  if (evidence.empty()) return;
  out->Add(CausePlace::kPattern,
           {"recorded_state", Layer::kCode, Strength::kPossible,
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

void SingleElement(const ExplainInput& in, CauseList* out) {
  const CheckpointComparison* checkpoint = DifferingWeights(in.comparison);
  if (checkpoint == nullptr || checkpoint->from_digests) return;
  const auto& differing = checkpoint->difference.differing;
  if (differing.size() != 1 || differing.front().differing != 1) return;
  const TensorDifference& tensor = differing.front();
  // Of a step counter or a bias of two, one element is a large part.
  constexpr std::uint64_t kMany = 1000;
  if (tensor.elements < kMany) return;
  out->Add(CausePlace::kBits,
           {"single_element",
            Layer::kHardware,
            Strength::kLikely,
            "One element of one tensor differs; arithmetic never does that. A flipped bit in "
            "memory or storage, or an edit.",
            {fmt::format("{}[{}] alone of {} elements, {} ULP apart", tensor.name,
                         tensor.first_index, checkpoint->difference.elements, tensor.max_ulp)},
            "fetch the file again from its source and hash it; read the ECC counters"});
}

void Unrelated(const ExplainInput& in, CauseList* out) {
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
  out->Add(CausePlace::kPattern,
           {"unrelated_weights",
            Layer::kRandomness,
            Strength::kLikely,
            "Weights point in unrelated directions: another seed, another initialisation or "
            "another model, not another rounding.",
            {fmt::format("{}: cosine {:.3g} over {} elements", worst->name, worst->cosine,
                         worst->elements)},
            "compare seeds and the checkpoints of step 0"});
}

void LastBits(const ExplainInput& in, CauseList* out) {
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
  out->Add(CausePlace::kPattern,
           {"last_bit",
            Layer::kEnvironment,
            Strength::kLikely,
            "Every difference is in the last bit or two: one rounding more or less, such as "
            "a conversion or a fused multiply-add in the last step.",
            {fmt::format("{} elements differ, by at most {} ULP", elements, max_ulp)},
            "compare how both checkpoints were saved: dtype, conversion, averaging"});
}

void NamesOrTypes(const ExplainInput& in, CauseList* out) {
  for (const CheckpointComparison& checkpoint : in.comparison.checkpoints) {
    const CheckpointDifference& difference = checkpoint.difference;
    if (!difference.shape_or_dtype.empty()) {
      const std::string& first = checkpoint.first_shape_or_dtype.empty()
                                     ? difference.shape_or_dtype.front()
                                     : checkpoint.first_shape_or_dtype;
      const bool trees = difference.shape_or_dtype.front().starts_with("trees/");
      out->Add(
          CausePlace::kBits,
          {"shape_or_dtype",
           Layer::kCode,
           trees ? Strength::kPossible : Strength::kShown,
           trees ? "The trees have another size, which follows from the data, the arguments "
                   "and the library."
                 : "Tensors have another shape or dtype: the model or the saved precision "
                   "changed.",
           {fmt::format("{} of {}, first {}", difference.shape_or_dtype.size(), checkpoint.subject,
                        first)},
           trees ? "compare the data, the arguments and the versions of the two trainings"
                 : "compare the two model configurations, and how the checkpoints were saved"});
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
    out->Add(CausePlace::kBits,
             {"tensor_names",
              Layer::kCode,
              Strength::kShown,
              "The two checkpoints do not hold the same tensors.",
              {fmt::format("{}: {} only in A, {} only in B, first {}", checkpoint.subject,
                           difference.only_a.size(), difference.only_b.size(), first)},
              checkpoint.prefixes.empty() ? "compare the two model definitions" : strip});
  }
}

void Tied(const ExplainInput& in, CauseList* out) {
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
  out->Add(CausePlace::kBits,
           {"tied_weights", Layer::kCode, Strength::kLikely,
            "What one side alone stores repeats another tensor of that side: a tied (shared) "
            "weight, stored once by one writer and twice by the other.",
            std::move(evidence),
            "check that both models tie them (tie_word_embeddings): a model that does not would "
            "initialize the missing tensor"});
}

}  // namespace

const std::vector<ExplainRule>& TensorRules() {
  static const std::vector<ExplainRule> rules = {Roles,     FilesAlone, CarriedState, SingleElement,
                                                 Unrelated, LastBits,   NamesOrTypes, Tied};
  return rules;
}

}  // namespace rharness
