// The first call whose output differs, and the reason.
#include "compare/traces/call_parting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace rharness {
namespace {

// From here on a difference of norms is no rounding, in bfloat16 either.
constexpr double kBeyondRounding = 1.0 / 128.0;
constexpr std::size_t kMostBack = 10000;  // calls of a chain

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

// By its name; where a trace has no states of generators.
bool IsRandomByName(std::string_view op) {
  constexpr std::string_view kDraws[] = {"bernoulli", "dropout",  "multinomial", "normal_",
                                         "rand",      "uniform_", "exponential_"};
  return std::ranges::any_of(kDraws, [&](std::string_view one) { return op.find(one) != op.npos; });
}

// Which call of a side wrote something.
struct Writer {
  bool of_a = true;
  std::size_t index = 0;  // in the step
};

class Parting {
 public:
  Parting(const StepCalls& step, std::size_t index, const Peers& peers,
          const std::optional<CallPair>& before, bool is_first, CallOnset* onset)
      : step_(step),
        index_(index),
        peers_(peers),
        before_(before),
        is_first_(is_first),
        onset_(*onset) {}

  Status Find() {
    paired_a_.assign(step_.step_a.count, false);
    paired_b_.assign(step_.step_b.count, false);
    for (const CallMatch& one : step_.matches) {
      if (IsOwn(one)) continue;
      paired_a_[one.a] = true;
      paired_b_[one.b] = true;
    }
    const CallMatch& match = step_.matches[index_];
    ASSIGN_OR_RETURN(onset_.origin, step_.Pair(match));
    onset_.end = "parts";
    if (step_.EntryA(match).given == step_.EntryB(match).given) {
      RETURN_IF_ERROR(OfEqualInputs(match));
    } else {
      RETURN_IF_ERROR(OfOtherInputs());
    }
    RETURN_IF_ERROR(AddSurroundings());
    return {};
  }

 private:
  void Set(std::string what, Layer layer, std::string difference) {
    onset_.what = std::move(what);
    onset_.layer = layer;
    onset_.difference = std::move(difference);
  }

  Status OfEqualInputs(const CallMatch& match) {
    const CallPair& origin = *onset_.origin;
    onset_.origin->state = RecordState::kOrigin;
    if (step_.EntryA(match).collective) {
      ASSIGN_OR_RETURN(const std::optional<int> rank, RankWithOtherInput(origin.a.group));
      if (rank) {
        onset_.end = "other_rank";
        onset_.difference = fmt::format("the input of rank {} differs", *rank);
        return {};
      }
      Set("collective", Layer::kEnvironment,
          fmt::format("the inputs of the traced ranks are equal: {}", OutputWords()));
      return {};
    }
    if (origin.a.rng.empty() && IsRandomByName(origin.a.op)) {
      Set("random_operator", Layer::kRandomness,
          "inputs and arguments are equal, and it draws random numbers: " + OutputWords());
      return {};
    }
    Set("operator", IsBeyondRounding() ? Layer::kCode : Layer::kEnvironment,
        "inputs and arguments are equal: " + OutputWords());
    return {};
  }

  Status OfOtherInputs() {
    const Call& a = onset_.origin->a;
    const Call& b = onset_.origin->b;
    onset_.origin->state = RecordState::kOrigin;
    const std::size_t count = std::min(a.inputs.size(), b.inputs.size());
    for (std::size_t i = 0; i < count; ++i) {
      if (!IsSameTensor(a.inputs[i], b.inputs[i])) return OfInput(i);
    }
    if (a.inputs.size() != b.inputs.size()) {
      Set("arguments", Layer::kCode,
          fmt::format("{} tensors are given in A, {} in B", a.inputs.size(), b.inputs.size()));
    } else if (a.args != b.args) {
      Set("arguments", Layer::kCode, OtherArguments(a, b));
    } else if (a.rng != b.rng) {
      Set("random_operator", Layer::kRandomness,
          "inputs and arguments are equal; the generator was in another state");
    } else {
      Set("collective", Layer::kEnvironment, fmt::format("{} in A, {} in B", a.group, b.group));
    }
    return {};
  }

  // An input differs, and no output before does.
  Status OfInput(std::size_t index) {
    const CallTensor& a = onset_.origin->a.inputs[index];
    const CallTensor& b = onset_.origin->b.inputs[index];
    const std::string name = NameOfTensor("input", index, a.name.empty() ? b : a);
    if (a.unseen || b.unseen) return OfUnseen(name, a, b);
    for (const auto& [tensor, of_a] : {std::pair(&a, true), std::pair(&b, false)}) {
      const std::optional<Writer> writer = WriterOf(*tensor, of_a);
      if (writer && !IsPaired(*writer)) return OfOwnCalls(*writer);
    }
    if (a.from || b.from) return OfUnseen(name, a, b);
    if (before_) {
      const std::string consumer = NameOfCall(onset_.origin->a);
      onset_.origin = before_;
      Set("calls", Layer::kCode, fmt::format("{} of {} differs in the next step", name, consumer));
      return {};
    }
    OfOutside(name, a.name.empty() ? b.name : a.name);
    return {};
  }

  void OfOutside(const std::string& input, const std::string& name) {
    const std::string says = input + " differs, and no call of the step wrote it";
    if (name.starts_with("batch[")) return Set("batch", Layer::kData, says);
    if (name.starts_with("state:")) {
      return Set(is_first_ ? "initial_state" : "outside_of_steps",
                 is_first_ ? Layer::kRandomness : Layer::kCode, says);
    }
    if (name.empty()) {
      return Set("outside_value", step_.a.gaps ? Layer::kCode : Layer::kData, says);
    }
    Set(is_first_ ? "initial_weights" : "outside_of_steps",
        is_first_ ? Layer::kRandomness : Layer::kCode, says);
  }

  Status OfUnseen(const std::string& name, const CallTensor& a, const CallTensor& b) {
    std::string writer = "the last call that wrote it";
    const std::optional<Writer> last = a.from ? WriterOf(a, true) : WriterOf(b, false);
    if (last) {
      ASSIGN_OR_RETURN(const Call call, Read(*last));
      writer = NameOfCall(call);
    }
    Set("unseen_write", Layer::kCode,
        fmt::format("{} is not what {} left{}", name, writer,
                    a.unseen == b.unseen ? ""
                    : a.unseen           ? ", in A"
                                         : ", in B"));
    return {};
  }

  // What differs was computed by a call that one side alone has: the first of that chain.
  Status OfOwnCalls(Writer writer) {
    const std::string consumer = NameOfCall(onset_.origin->a);
    Call call;
    for (std::size_t i = 0; i < kMostBack; ++i) {
      ASSIGN_OR_RETURN(call, Read(writer));
      std::optional<Writer> further;
      for (const CallTensor& input : call.inputs) {
        const std::optional<Writer> one = WriterOf(input, writer.of_a);
        if (one && !IsPaired(*one) && one->index < writer.index) further = one;
        if (further) break;
      }
      if (!further) break;
      writer = *further;
    }
    onset_.origin = CallPair{.a = call, .b = call};
    onset_.origin->state = writer.of_a ? RecordState::kOnlyA : RecordState::kOnlyB;
    Set("calls", Layer::kCode, fmt::format("{} was computed from it, and differs", consumer));
    for (std::size_t i = 0; i < step_.matches.size(); ++i) {
      const CallMatch& one = step_.matches[i];
      if ((writer.of_a ? one.a : one.b) == writer.index && IsOwn(one)) index_ = i;
    }
    return {};
  }

  std::optional<Writer> WriterOf(const CallTensor& tensor, bool of_a) const {
    if (!tensor.from) return std::nullopt;
    const auto calls = of_a ? step_.a.Of(step_.step_a) : step_.b.Of(step_.step_b);
    const auto found = std::ranges::lower_bound(
        calls, *tensor.from, {}, [](const CallEntry& one) { return std::int64_t{one.order}; });
    if (found == calls.end() || found->order != *tensor.from) return std::nullopt;
    return Writer{of_a, static_cast<std::size_t>(found - calls.begin())};
  }
  bool IsPaired(const Writer& writer) const {
    return writer.of_a ? paired_a_[writer.index] : paired_b_[writer.index];
  }
  Result<Call> Read(const Writer& writer) const {
    return writer.of_a ? step_.a.Read(step_.a.Of(step_.step_a)[writer.index])
                       : step_.b.Read(step_.b.Of(step_.step_b)[writer.index]);
  }

  // Of the same collective on another rank.
  Result<std::optional<int>> RankWithOtherInput(const std::string& group) const {
    std::optional<int> other;
    for (const CallTrace& one : peers_.a) {
      if (one.rank == step_.a.rank || other) continue;
      const auto in_b = std::ranges::find(peers_.b, one.rank, &CallTrace::rank);
      if (in_b == peers_.b.end()) continue;
      ASSIGN_OR_RETURN(const CallEntry* in_a, Collective(one, group));
      ASSIGN_OR_RETURN(const CallEntry* there, Collective(*in_b, group));
      if (in_a != nullptr && there != nullptr && in_a->given != there->given) other = one.rank;
    }
    return other;
  }

  Result<const CallEntry*> Collective(const CallTrace& trace, const std::string& group) const {
    const CallEntry* found = nullptr;
    const auto step = std::ranges::find(trace.steps, step_.step_a.step, &CallStep::step);
    if (step == trace.steps.end()) return found;
    for (const CallEntry& entry : trace.Of(*step)) {
      if (!entry.collective) continue;
      ASSIGN_OR_RETURN(const Call call, trace.Read(entry));
      if (call.group == group) return &entry;
    }
    return found;
  }

  // The first output that differs.
  std::optional<std::size_t> OtherOutput() const {
    const Call& a = onset_.origin->a;
    const Call& b = onset_.origin->b;
    for (std::size_t i = 0; i < std::min(a.outputs.size(), b.outputs.size()); ++i) {
      if (!IsSameTensor(a.outputs[i], b.outputs[i])) return i;
    }
    return std::nullopt;
  }
  bool IsBeyondRounding() const {
    const std::optional<std::size_t> index = OtherOutput();
    if (!index) return true;
    const CallTensor& a = onset_.origin->a.outputs[*index];
    const CallTensor& b = onset_.origin->b.outputs[*index];
    if (a.shape != b.shape || a.dtype != b.dtype || a.nonfinite != b.nonfinite) return true;
    return std::abs(a.norm - b.norm) > kBeyondRounding * std::max(a.norm, b.norm);
  }
  std::string OutputWords() const {
    const std::optional<std::size_t> index = OtherOutput();
    if (!index) return "the number of outputs differs";
    const CallTensor& a = onset_.origin->a.outputs[*index];
    const CallTensor& b = onset_.origin->b.outputs[*index];
    const std::string name = NameOfTensor("output", *index, a);
    if (a.shape != b.shape || a.dtype != b.dtype) {
      return fmt::format("{} is {} [{}] in A, {} [{}] in B", name, a.dtype,
                         fmt::join(a.shape, ", "), b.dtype, fmt::join(b.shape, ", "));
    }
    if (a.nonfinite != b.nonfinite) {
      return fmt::format("{} has {} values in A and {} in B that are not finite", name, a.nonfinite,
                         b.nonfinite);
    }
    if (std::isnan(a.norm) || std::isnan(b.norm)) return name + " differs";
    const double norm = std::max(a.norm, b.norm);
    return fmt::format("{} differs; its norms are {:.2g} apart", name,
                       norm > 0.0 ? std::abs(a.norm - b.norm) / norm : 0.0);
  }

  Status AddSurroundings() {
    const std::size_t from = index_ - std::min(index_, kCallsAround);
    const std::size_t to = std::min(step_.matches.size(), index_ + kCallsAround + 1);
    for (std::size_t i = from; i < to; ++i) {
      ASSIGN_OR_RETURN(CallPair pair, step_.Pair(step_.matches[i]));
      if (i == index_ && !IsOwn(step_.matches[i])) pair.state = onset_.origin->state;
      onset_.around.push_back(std::move(pair));
    }
    for (std::size_t i = 0; i < step_.matches.size(); ++i) {
      const CallMatch& one = step_.matches[i];
      const bool own = (IsOwn(one) || one.moved) && onset_.own.size() < kMostOwnCalls;
      const bool further = i != index_ && onset_.end == "parts" &&
                           onset_.further.size() < kMostFurtherCalls &&
                           step_.StateOf(one) == RecordState::kOrigin;
      if (!own && !further) continue;
      ASSIGN_OR_RETURN(CallPair pair, step_.Pair(one));
      (own ? onset_.own : onset_.further).push_back(std::move(pair));
    }
    return {};
  }

  const StepCalls& step_;
  std::size_t index_;
  const Peers& peers_;
  const std::optional<CallPair>& before_;
  bool is_first_;
  CallOnset& onset_;
  std::vector<bool> paired_a_;
  std::vector<bool> paired_b_;
};

}  // namespace

RecordState StepCalls::StateOf(const CallMatch& match) const {
  if (match.b == kNoCall) return RecordState::kOnlyA;
  if (match.a == kNoCall) return RecordState::kOnlyB;
  const CallEntry& one = EntryA(match);
  const CallEntry& other = EntryB(match);
  if (one.made != other.made) {
    return one.given == other.given ? RecordState::kOrigin : RecordState::kHandedOn;
  }
  if (Differs(match)) return RecordState::kHandedOn;
  return one.unknown || other.unknown ? RecordState::kUnknown : RecordState::kEqual;
}

bool StepCalls::Differs(const CallMatch& match) const {
  if (IsOwn(match)) return false;
  const CallEntry& one = EntryA(match);
  const CallEntry& other = EntryB(match);
  // Of what has no digest nobody knows that it is equal.
  const bool unknown = one.unknown || other.unknown;
  return one.made != other.made || (unknown && one.given != other.given);
}

Result<CallPair> StepCalls::Pair(const CallMatch& match) const {
  CallPair pair{.state = StateOf(match), .moved = match.moved};
  if (match.a != kNoCall) {
    ASSIGN_OR_RETURN(pair.a, a.Read(EntryA(match)));
  }
  if (match.b != kNoCall) {
    ASSIGN_OR_RETURN(pair.b, b.Read(EntryB(match)));
  }
  if (match.a == kNoCall) pair.a = pair.b;
  if (match.b == kNoCall) pair.b = pair.a;
  return pair;
}

Status FindParting(const StepCalls& step, std::size_t index, const Peers& peers,
                   const std::optional<CallPair>& before, bool is_first, CallOnset* onset) {
  return Parting(step, index, peers, before, is_first, onset).Find();
}

}  // namespace rharness
