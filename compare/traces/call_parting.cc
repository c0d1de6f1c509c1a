// The first call whose output differs, and the reason.
#include "compare/traces/call_parting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "compare/traces/call_writers.h"
#include "compare/traces/operator_names.h"

namespace rharness {
namespace {

// From here on a difference of norms is no rounding, in bfloat16 either.
constexpr double kBeyondRounding = 1.0 / 128.0;
constexpr std::size_t kMostAhead = 200;  // calls that are searched for a consumer

class Parting {
 public:
  Parting(const StepCalls& step, std::size_t index, const Peers& peers,
          const std::optional<CallPair>& before, bool is_first, CallOnset* onset)
      : step_(step),
        index_(index),
        peers_(peers),
        before_(before),
        is_first_(is_first),
        onset_(*onset),
        writers_(step) {}

  Status Find() {
    const CallMatch& match = step_.matches[index_];
    ASSIGN_OR_RETURN(onset_.origin, step_.Pair(match));
    onset_.end = "parts";
    if (!step_.GivenDiffers(match)) {
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
      ASSIGN_OR_RETURN(const std::optional<int> rank, RankWithOtherInput(origin));
      if (rank) {
        onset_.end = "other_rank";
        onset_.difference = fmt::format("the input of rank {} differs", *rank);
        return {};
      }
      Set("collective", Layer::kEnvironment,
          fmt::format("the inputs of the traced ranks are equal: {}", OutputWords()));
      return {};
    }
    if (origin.a.rng.empty() && DrawsByName(origin.a.op)) {
      Set("random_operator", Layer::kRandomness,
          "inputs and arguments are equal, and it draws random numbers: " + OutputWords());
      return {};
    }
    if (step_.EntryA(match).unknown || step_.EntryB(match).unknown) {
      if (const std::optional<std::size_t> input = UnknownInput()) return OfUnknown(*input);
    }
    Set("operator", IsBeyondRounding() ? Layer::kCode : Layer::kEnvironment,
        "inputs and arguments are equal: " + OutputWords());
    return {};
  }

  // An input without a digest on either side: nobody knows that it is equal.
  std::optional<std::size_t> UnknownInput() const {
    const Call& a = onset_.origin->a;
    const Call& b = onset_.origin->b;
    for (std::size_t i = 0; i < std::min(a.inputs.size(), b.inputs.size()); ++i) {
      if (a.inputs[i].digest.empty() || b.inputs[i].digest.empty()) return i;
    }
    return std::nullopt;
  }

  Status OfUnknown(std::size_t index) {
    const CallTensor& a = onset_.origin->a.inputs[index];
    const CallTensor& b = onset_.origin->b.inputs[index];
    const std::optional<Writer> in_a = writers_.WriterOf(a, true);
    const std::optional<Writer> in_b = writers_.WriterOf(b, false);
    const bool own = (in_a && writers_.IsOwnCall(*in_a)) || (in_b && writers_.IsOwnCall(*in_b));
    if (own) return OfOwnCalls(in_a, in_b);
    Set("unknown_input", Layer::kCode,
        fmt::format("{} has no digest, so that it may differ: {}",
                    NameOfTensor("input", index, a.name.empty() ? b : a), OutputWords()));
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
      Set("arguments", Layer::kCode, fmt::format("{} in A, {} in B", a.group, b.group));
    }
    return {};
  }

  // An input differs, and no output before does.
  Status OfInput(std::size_t index) {
    const CallTensor& a = onset_.origin->a.inputs[index];
    const CallTensor& b = onset_.origin->b.inputs[index];
    const std::string name = NameOfTensor("input", index, a.name.empty() ? b : a);
    if (a.unseen || b.unseen) return OfUnseen(name, a, b);
    const std::optional<Writer> in_a = writers_.WriterOf(a, true);
    const std::optional<Writer> in_b = writers_.WriterOf(b, false);
    if ((in_a && writers_.IsOwnCall(*in_a)) || (in_b && writers_.IsOwnCall(*in_b)))
      return OfOwnCalls(in_a, in_b);
    if (in_a && in_b && writers_.PartnerOf(*in_a) != in_b->index)
      return OfOtherWriters(name, *in_a, *in_b);
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
    std::string says = name + " changed since a call of the step read it";
    const std::optional<Writer> last =
        a.from ? writers_.WriterOf(a, true) : writers_.WriterOf(b, false);
    if (last) {
      ASSIGN_OR_RETURN(const Call call, writers_.Read(*last));
      says = fmt::format("{} is not what {} left", name, NameOfCall(call));
    }
    if (a.unseen != b.unseen) says += a.unseen ? ", in A" : ", in B";
    Set("unseen_write", Layer::kCode, std::move(says));
    return {};
  }

  // An input was last written by different calls in A and B. If one run copies a tensor first and
  // the other does not, the copy is named.
  Status OfOtherWriters(const std::string& name, const Writer& in_a, const Writer& in_b) {
    // What the earlier writer left, and one run alone read before.
    for (std::size_t i = index_; i-- > 0;) {
      const CallMatch& match = step_.matches[i];
      if (!IsOwn(match)) continue;
      const bool of_a = match.b == kNoCall;
      const Writer own{of_a, of_a ? match.a : match.b};
      // Either of the two writers, as this side has them.
      const std::size_t one = of_a ? in_a.index : writers_.PartnerOf(in_a);
      const std::size_t other = of_a ? writers_.PartnerOf(in_b) : in_b.index;
      ASSIGN_OR_RETURN(const Call call, writers_.Read(own));
      for (const CallTensor& input : call.inputs) {
        const std::optional<Writer> writer = writers_.WriterOf(input, of_a);
        if (!writer || (writer->index != one && writer->index != other)) continue;
        return of_a ? OfOwnCalls(own, std::nullopt) : OfOwnCalls(std::nullopt, own);
      }
    }
    ASSIGN_OR_RETURN(const Call a, writers_.Read(in_a));
    ASSIGN_OR_RETURN(const Call b, writers_.Read(in_b));
    Set("calls", Layer::kCode,
        fmt::format("{} was last written by {} in A, by {} in B", name, NameOfCall(a),
                    NameOfCall(b)));
    return {};
  }

  // What differs was computed by calls that one run has alone. Where both have such, some are in
  // place of the others: of those that are fewer the last is named, such as a fused operator.
  Status OfOwnCalls(std::optional<Writer> in_a, std::optional<Writer> in_b) {
    std::string consumer = NameOfCall(onset_.origin->a);
    if (IsArrangement(onset_.origin->a)) RETURN_IF_ERROR(FindConsumer(&consumer, &in_a, &in_b));
    ASSIGN_OR_RETURN(const OwnChain of_a, writers_.ChainOf(in_a));
    ASSIGN_OR_RETURN(const OwnChain of_b, writers_.ChainOf(in_b));
    const bool both = !of_a.calls.empty() && !of_b.calls.empty();
    const bool in_b_alone =
        of_a.calls.empty() || (both && of_b.telling.size() <= of_a.telling.size());
    const OwnChain& chain = in_b_alone ? of_b : of_a;
    const OwnChain& other = in_b_alone ? of_a : of_b;
    const Writer named = both ? chain.telling.back() : chain.telling.front();
    std::string says = fmt::format("{} was computed from it, and differs", consumer);
    if (both) {
      ASSIGN_OR_RETURN(const Call first, writers_.Read(other.telling.front()));
      says += fmt::format("; in its place {} makes {} {} of its own, first {}",
                          in_b_alone ? "A" : "B", other.calls.size(),
                          other.calls.size() == 1 ? "call" : "calls", NameOfCall(first));
    }
    ASSIGN_OR_RETURN(const Call call, writers_.Read(named));
    onset_.origin = CallPair{.a = call, .b = call};
    onset_.origin->state = in_b_alone ? RecordState::kOnlyB : RecordState::kOnlyA;
    Set("calls", Layer::kCode, std::move(says));
    for (std::size_t i = 0; i < step_.matches.size(); ++i) {
      const CallMatch& one = step_.matches[i];
      if ((in_b_alone ? one.b : one.a) == named.index && IsOwn(one)) index_ = i;
    }
    return {};
  }

  // Views of one name in both runs may be of different tensors where whole parts are replaced: the
  // first call that computes from such tensors in both says more.
  Status FindConsumer(std::string* consumer, std::optional<Writer>* in_a,
                      std::optional<Writer>* in_b) const {
    const std::size_t to = std::min(step_.matches.size(), index_ + kMostAhead);
    for (std::size_t i = index_ + 1; i < to; ++i) {
      if (!step_.Differs(step_.matches[i])) continue;
      ASSIGN_OR_RETURN(const CallPair pair, step_.Pair(step_.matches[i]));
      if (IsArrangement(pair.a)) continue;
      for (std::size_t k = 0; k < std::min(pair.a.inputs.size(), pair.b.inputs.size()); ++k) {
        const std::optional<Writer> a = writers_.WriterOf(pair.a.inputs[k], true);
        const std::optional<Writer> b = writers_.WriterOf(pair.b.inputs[k], false);
        if (!a || !b || !writers_.IsOwnCall(*a) || !writers_.IsOwnCall(*b)) continue;
        *in_a = a;
        *in_b = b;
        *consumer = NameOfCall(pair.a);
        return {};
      }
    }
    return {};
  }

  // Of the same collective on another rank; each run has its own number of it.
  Result<std::optional<int>> RankWithOtherInput(const CallPair& origin) const {
    std::optional<int> other;
    for (const CallTrace& one : peers_.a) {
      if (one.rank == step_.a.rank || other) continue;
      const auto in_b = std::ranges::find(peers_.b, one.rank, &CallTrace::rank);
      if (in_b == peers_.b.end()) continue;
      ASSIGN_OR_RETURN(const CallEntry* in_a, Collective(one, origin.a.group));
      ASSIGN_OR_RETURN(const CallEntry* there, Collective(*in_b, origin.b.group));
      if (in_a == nullptr || there == nullptr || in_a->unknown || there->unknown) continue;
      if (in_a->given != there->given) other = one.rank;
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
      const bool further = i != index_ && onset_.end == "parts" &&
                           onset_.further.size() < kMostFurtherCalls &&
                           step_.StateOf(one) == RecordState::kOrigin;
      if (!further) continue;
      ASSIGN_OR_RETURN(CallPair pair, step_.Pair(one));
      onset_.further.push_back(std::move(pair));
    }
    return AddOwnCalls(step_, &onset_);
  }

  const StepCalls& step_;
  std::size_t index_;
  const Peers& peers_;
  const std::optional<CallPair>& before_;
  bool is_first_;
  CallOnset& onset_;
  CallWriters writers_;
};

}  // namespace

Status FindParting(const StepCalls& step, std::size_t index, const Peers& peers,
                   const std::optional<CallPair>& before, bool is_first, CallOnset* onset) {
  return Parting(step, index, peers, before, is_first, onset).Find();
}

}  // namespace rharness
