// What the onset of two traces of calls says, in sentences.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "compare/traces/call_onset.h"

namespace rharness {
namespace {

struct CallWords {
  std::string_view what;
  std::string_view sentence;  // {} is the call
  std::string_view next;
};

constexpr CallWords kCallWords[] = {
    {"operator", "{} gives another result on equal inputs and arguments",
     "compare what this operator runs on: library versions, its threads, the device "
     "(rharness probe diff)"},
    {"random_operator", "{} draws other random numbers",
     "compare the seeds, and what else draws from the generator before it"},
    {"arguments", "{} is called with other arguments",
     "set the arguments that are named as they were"},
    {"collective", "{} gives another result, and the inputs of the traced ranks are equal",
     "compare the order of the ranks, and algorithm and protocol of the library (NCCL_ALGO, "
     "NCCL_PROTO); trace every rank, if some are missing"},
    {"unknown_input", "{} gives another result; whether its inputs are equal is not known",
     "look at the calls before it: an input that is sparse, quantized or of another kind has no "
     "digest"},
    {"calls", "{} is called in one run alone, and what was computed from it differs",
     "compare the code there; compiled and fused operators are other calls, too"},
    {"unseen_write", "an input of {} was changed by something that no call shows",
     "look for what writes this tensor past the dispatcher between the two calls: a kernel of an "
     "extension, .data, memory shared with NumPy"},
    {"batch", "the batch differs, seen first by {}",
     "compare the data sets, and the loader's processing; then the seeds of its order"},
    {"initial_weights", "the runs begin with other weights, seen first by {}",
     "compare the seed of the initialisation, or the checkpoint that they began with"},
    {"initial_state", "the runs begin with another state, seen first by {}",
     "compare the checkpoint that they began with, and whether all of it was restored"},
    {"outside_of_steps", "{} reads what was changed between two steps",
     "look for what writes weights between steps: clipping, averaging, a callback, a broadcast; "
     "or trace the steps between"},
    {"outside_value", "{} reads a value that no traced call made",
     "compare what makes this value before the step: labels, masks, constants"},
};

std::string PhaseWords(const Call& call) {
  if (call.phase == "backward") return ", in the backward pass";
  if (call.phase == "optimizer") return ", in the optimizer's step";
  return "";
}

void DescribeCallParting(CallOnset* onset) {
  const Call& call = onset->origin->a;
  for (const CallWords& words : kCallWords) {
    if (words.what != onset->what) continue;
    onset->headline = fmt::format("the runs diverge at step {}{}: {}", call.step, PhaseWords(call),
                                  fmt::format(fmt::runtime(words.sentence), NameOfCall(call)));
    onset->next = words.next;
  }
  if (onset->damaged) {
    onset->headline += ", as far as the traces can be read: lines that cannot may part before";
  }
  onset->reasons.push_back(
      fmt::format("call {} of step {}: {}", call.order, call.step, onset->difference));
  if (onset->origin->state == RecordState::kOnlyA)
    onset->reasons.push_back("A alone has this call");
  if (onset->origin->state == RecordState::kOnlyB)
    onset->reasons.push_back("B alone has this call");
  if (onset->what == "unknown_input" && !onset->own.empty()) {
    const CallPair& own = onset->own.front();
    onset->reasons.push_back(fmt::format("{} alone calls {} in this step",
                                         own.state == RecordState::kOnlyA ? "A" : "B",
                                         NameOfCall(own.a)));
  }
  if (!onset->further.empty()) {
    onset->reasons.push_back(fmt::format(
        "{}{} more of this step {} on equal inputs, first {}", onset->further.size(),
        onset->further.size() == kMostFurtherCalls ? " or more" : "",
        onset->further.size() == 1 ? "differs" : "differ", NameOfCall(onset->further.front().a)));
  }
}

// The parts of `name=value, name=value` that differ, outside of brackets and quotes.
std::vector<std::string> PartsOfArguments(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  char quote = '\0';
  for (const char c : text) {
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth <= 0) {
      parts.emplace_back();
      continue;
    }
    if (!parts.back().empty() || c != ' ') parts.back() += c;
  }
  return parts;
}

}  // namespace

std::string OtherArguments(const Call& a, const Call& b) {
  std::vector<std::string> of_a = PartsOfArguments(a.args);
  std::vector<std::string> of_b = PartsOfArguments(b.args);
  const auto without = [](const std::vector<std::string>& all, const std::vector<std::string>& in) {
    std::string left;
    for (const std::string& one : all) {
      if (std::ranges::find(in, one) != in.end()) continue;
      left += (left.empty() ? "" : ", ") + one;
    }
    return left.empty() ? std::string("none of these") : left;
  };
  return fmt::format("{} in A, {} in B", without(of_a, of_b), without(of_b, of_a));
}

std::string NameOfCall(const Call& call) {
  std::string name = call.op;
  if (!call.unit.empty()) name += fmt::format(" ({})", call.unit);
  if (!call.module.empty()) name += " in " + call.module;
  if (!call.site.empty()) name += fmt::format(" ({})", call.site);
  return name;
}

std::string NameOfTensor(std::string_view list, std::size_t index, const CallTensor& tensor) {
  return tensor.name.empty() ? fmt::format("{} {}", list, index)
                             : fmt::format("{} {} ({})", list, index, tensor.name);
}

bool IsSameTensor(const CallTensor& a, const CallTensor& b) {
  const bool known = !a.digest.empty() && !b.digest.empty();
  return a.shape == b.shape && a.dtype == b.dtype && a.count == b.count &&
         (!known || a.digest == b.digest);
}

void DescribeCallOnset(CallOnset* onset) {
  if (onset->end == "parts") {
    DescribeCallParting(onset);
  } else if (onset->end == "other_rank") {
    const Call& call = onset->origin->a;
    onset->headline = fmt::format("rank {} first differs at step {} in the result of {}: {}",
                                  onset->rank, call.step, NameOfCall(call), onset->difference);
    onset->next = "trace the calls of every rank on both sides (RHARNESS_TRACE_OPERATORS)";
  } else if (onset->end == "equal") {
    onset->headline = fmt::format(
        "of {} calls in {} {} no output differs: the runs diverge later, or outside of the calls",
        onset->paired, onset->steps.size(), onset->steps.size() == 1 ? "step" : "steps");
    onset->next = "trace further steps: RHARNESS_TRACE_STEPS";
    if (onset->absorbed) {
      onset->reasons.push_back(
          fmt::format("given something else, with an equal output, first at step {}: {}",
                      onset->absorbed->a.step, NameOfCall(onset->absorbed->a)));
      if (onset->absorbed->a.args != onset->absorbed->b.args) {
        onset->reasons.back() += ": " + OtherArguments(onset->absorbed->a, onset->absorbed->b);
      }
    }
    if (!onset->own.empty()) {
      const CallPair& first = onset->own.front();
      onset->reasons.push_back(fmt::format("{}, first at step {}: {}",
                                           first.moved ? "calls are made in another order"
                                           : first.state == RecordState::kOnlyA
                                               ? "A makes calls that B does not"
                                               : "B makes calls that A does not",
                                           first.a.step, NameOfCall(first.a)));
    }
  } else {
    onset->headline = "no call could be compared";
    onset->next = "trace both runs at the same steps: RHARNESS_TRACE_STEPS";
  }
  if (onset->only_a + onset->only_b + onset->moved > 0) {
    onset->reasons.push_back(
        fmt::format("calls in A alone: {}; in B alone: {}; in another order: {}", onset->only_a,
                    onset->only_b, onset->moved));
  }
  if (onset->unknown > 0) {
    onset->notes.push_back(
        fmt::format("{} calls have tensors without a digest: they are not judged", onset->unknown));
  }
}

}  // namespace rharness
