// What an onset says, in sentences.
#include <fmt/format.h>

#include <cmath>

#include "compare/traces/onset.h"

namespace rharness {
namespace {

struct OnsetWords {
  std::string_view what;
  std::string_view sentence;  // {} is the record, "the output of conv1 (Conv2d)"
  std::string_view next;
};

constexpr OnsetWords kOnsetWords[] = {
    {"batch", "the batch differs, and everything before it is equal",
     "compare the data sets, and the loader's processing; then the seeds of its order"},
    {"batch_order", "the same data come in another order",
     "compare the seeds of the shuffle and of the loader's workers, and the number of workers"},
    {"initial_weights", "{} differs before the first step: the runs begin with other weights",
     "compare the seed of the initialisation, or the checkpoint that they began with"},
    {"initial_state", "{} differs before the first step: the runs begin with another state",
     "compare the checkpoint that they began with, and whether all of it was restored"},
    {"outside_of_steps", "{} was changed between two steps, by something that is no step",
     "look for what writes weights between steps: clipping, averaging, a callback, a broadcast"},
    {"operator", "{} differs on equal inputs and equal weights", ""},
    {"random_operator", "{} differs on equal inputs; it draws random numbers",
     "compare the seeds, and what else draws from the generator before it"},
    {"between_operators",
     "{} differs, and every output before it is equal: an operation outside of modules does it",
     ""},
    {"loss", "the loss differs on equal outputs",
     "compare the labels (note(\"labels\", labels) puts them into the trace) and the loss"},
    {"backward", "{} differs, and the whole forward pass is equal", ""},
    {"gradient", "{} differs on equal inputs and gradients of its operator",
     "compare what changes gradients before the optimizer's step (clipping, a gradient scaler, an "
     "average over processes), then the code and the settings of this operator"},
    {"settings", "{} differs after a step with equal gradients: the optimizer has other settings",
     "set the settings that are named as they were"},
    {"optimizer", "{} differs after a step with equal gradients and settings",
     "compare the optimizer's own code, whether it runs fused, and on what; and what else writes "
     "its "
     "state"},
    {"calls",
     "{} is there in one run alone, which calls the network once more before its optimizer's step",
     "compare the loop around the optimizer: batches whose gradients are accumulated, steps that "
     "are "
     "skipped (a gradient scaler does so where a gradient is not finite)"},
    {"structure",
     "{} is there in one run alone: the networks, or what of them is trained, are not the same",
     "compare the code that builds the network, and which of its parameters it freezes"},
};

std::string_view SizeWords(const OnsetRecord& record) {
  switch (record.size) {
    case DifferenceSize::kRounding:
      return "as much as rounding in another order leaves";
    case DifferenceSize::kReducedPrecision:
      return "more than rounding leaves, and as much as products in TF32, fp16 or bfloat16 do";
    case DifferenceSize::kLarge:
      return "more than any rounding leaves";
    case DifferenceSize::kNone:
    case DifferenceSize::kNotMeasured:
      return "how far is not known";
  }
  return "";
}

std::string ShapeOf(const TraceRecord& record) {
  return fmt::format("{} [{}]", record.dtype, fmt::join(record.shape, ", "));
}

std::string HowFar(const OnsetRecord& record) {
  const TraceRecord& a = record.a;
  const TraceRecord& b = record.b;
  if (record.state == RecordState::kOnlyA) return "in A alone";
  if (record.state == RecordState::kOnlyB) return "in B alone";
  if (a.shape != b.shape || a.dtype != b.dtype) {
    return fmt::format("{} in A, {} in B", ShapeOf(a), ShapeOf(b));
  }
  if (a.nonfinite != b.nonfinite) {
    return fmt::format("{} values in A and {} in B are not finite", a.nonfinite, b.nonfinite);
  }
  if (std::isnan(record.distance)) return std::string(SizeWords(record));
  return fmt::format("{}{:.2g} of its norm apart: {}", record.from_norms ? "at least " : "",
                     record.distance, SizeWords(record));
}

std::string PartOf(const TraceRecord& record) {
  const std::string name = NameOfRecord(record);
  switch (record.kind) {
    case TraceKind::kBatch:
      return name;
    case TraceKind::kInput:
      return "the input of " + name;
    case TraceKind::kOutput:
      return "the output of " + name;
    case TraceKind::kLoss:
      return "the loss";
    case TraceKind::kOutputGradient:
      return "the gradient with respect to the output of " + name;
    case TraceKind::kGradient:
      return "the gradient of " + name;
    case TraceKind::kUpdated:
      return "parameter " + name;
    default:
      return fmt::format("{} {}", TraceKindName(record.kind), name);
  }
}

std::string NextOf(const Onset& onset, const OnsetWords& words) {
  if (!words.next.empty()) return std::string(words.next);
  switch (onset.origin->size) {
    case DifferenceSize::kRounding:
      return "compare what this operator runs on: library versions, its threads, the device "
             "(rharness probe diff); replicates (rharness drill --replicates) show whether it "
             "matters";
    case DifferenceSize::kReducedPrecision:
      return "compare the precision flags: TF32, float32_matmul_precision, autocast";
    default:
      return "compare the code and the settings of this operator";
  }
}

void DescribeParting(Onset* onset) {
  for (const OnsetWords& words : kOnsetWords) {
    if (words.what != onset->what) continue;
    const TraceRecord& record = onset->origin->a;
    std::string part = PartOf(record);
    std::int64_t step = record.step;
    // As a step begins with them, the one before wrote them.
    const bool kept = record.kind == TraceKind::kBuffer || record.kind == TraceKind::kState;
    if (kept && onset->equal_until) {
      part += fmt::format(", as step {} begins with it,", step);
      step = *onset->equal_until;
    }
    onset->headline = fmt::format("the runs diverge at step {}: {}", step,
                                  fmt::format(fmt::runtime(words.sentence), part));
    onset->next = NextOf(*onset, words);
  }
  if (onset->damaged) {
    onset->headline +=
        ", as far as the traces can be read: what stood in the lines that cannot may "
        "part before";
  }
  onset->reasons.insert(onset->reasons.begin(),
                        fmt::format("{}: {}", PartOf(onset->origin->a), HowFar(*onset->origin)));
  if (!onset->origins.empty()) {
    onset->reasons.push_back(
        fmt::format("of this step, {} more {} on equal inputs, first {}",
                    onset->origins.size() == kMostOrigins ? fmt::format("{} or more", kMostOrigins)
                                                          : std::to_string(onset->origins.size()),
                    onset->origins.size() == 1 ? "record differs" : "records differ",
                    PartOf(onset->origins.front().a)));
  }
}

std::string GrowthWords(const Onset& onset) {
  if (onset.growth == "rounding_jumps") {
    return fmt::format(
        "it begins as rounding does, but at step {} the weights are suddenly more "
        "than {:.0f} times further apart: something larger joins there",
        *onset.jump, kJumpFactor);
  }
  if (onset.growth == "rounding_grows") {
    return "it begins as rounding does, and no step jumps: what follows may be that rounding, "
           "grown";
  }
  return onset.growth == "change" ? "it begins larger than rounding is: a change, no rounding" : "";
}

}  // namespace

std::string NameOfRecord(const TraceRecord& record) {
  const std::string_view whole = record.kind == TraceKind::kBatch ? "the batch" : "the network";
  std::string name = record.name.empty() ? std::string(whole) : record.name;
  if (!record.type.empty()) name += fmt::format(" ({})", record.type);
  if (record.call > 0) name += fmt::format(", call {}", record.call + 1);
  return name;
}

void DescribeOnset(Onset* onset) {
  if (onset->end == "parts") {
    DescribeParting(onset);
  } else if (onset->end == "between_steps") {
    onset->headline = fmt::format(
        "the runs part between the end of step {} and the beginning of step {}, which were not "
        "traced: {} differs",
        *onset->equal_until, onset->origin->a.step, PartOf(onset->origin->a));
    onset->next = fmt::format("trace both with RHARNESS_TRACE_STEPS={}-{}", *onset->equal_until + 1,
                              onset->origin->a.step - 1);
    onset->reasons.insert(onset->reasons.begin(),
                          fmt::format("{}: {}", PartOf(onset->origin->a), HowFar(*onset->origin)));
  } else if (onset->end == "equal") {
    onset->headline =
        fmt::format("in {} {} nothing differs: the runs diverge later, or outside of the traces",
                    onset->steps.size(), onset->steps.size() == 1 ? "step" : "steps");
    onset->next = "trace further steps: RHARNESS_TRACE_STEPS";
  } else {
    const bool steps = !onset->steps.empty();
    onset->headline = steps
                          ? "nothing could be compared: no record of the traces has a digest that "
                            "both sides share"
                          : "nothing could be compared: the traces have no step in common";
    onset->next = steps ? "trace both runs again, with the same hooks"
                        : "trace both runs at the same steps: RHARNESS_TRACE_STEPS";
  }
  if (const std::string growth = GrowthWords(*onset); !growth.empty()) {
    onset->reasons.push_back(growth);
  }
  for (const CurveComparison& curve : onset->curves) onset->reasons.push_back(curve.message);
}

}  // namespace rharness
