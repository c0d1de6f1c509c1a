// Calls by the tensors that they wrote.
#include "compare/traces/call_writers.h"

#include <algorithm>
#include <set>

#include "compare/traces/operator_names.h"

namespace rharness {
namespace {

constexpr std::size_t kMostBack = 10000;  // calls of a chain

}  // namespace

bool IsArrangement(const Call& call) { return call.view || ArrangesOnly(call.op); }

CallWriters::CallWriters(const StepCalls& step)
    : step_(step), of_a_(step.step_a.count, kNoCall), of_b_(step.step_b.count, kNoCall) {
  for (const CallMatch& one : step.matches) {
    if (IsOwn(one)) continue;
    of_a_[one.a] = one.b;
    of_b_[one.b] = one.a;
  }
}

std::optional<Writer> CallWriters::WriterOf(const CallTensor& tensor, bool of_a) const {
  if (!tensor.from) return std::nullopt;
  const auto calls = of_a ? step_.a.Of(step_.step_a) : step_.b.Of(step_.step_b);
  const auto found = std::ranges::lower_bound(
      calls, *tensor.from, {}, [](const CallEntry& one) { return std::int64_t{one.order}; });
  if (found == calls.end() || found->order != *tensor.from) return std::nullopt;
  return Writer{of_a, static_cast<std::size_t>(found - calls.begin())};
}

std::uint32_t CallWriters::PartnerOf(const Writer& writer) const {
  return writer.of_a ? of_a_[writer.index] : of_b_[writer.index];
}

Result<Call> CallWriters::Read(const Writer& writer) const {
  return writer.of_a ? step_.a.Read(step_.a.Of(step_.step_a)[writer.index])
                     : step_.b.Read(step_.b.Of(step_.step_b)[writer.index]);
}

Result<OwnChain> CallWriters::ChainOf(const std::optional<Writer>& last) const {
  OwnChain chain;
  if (!last || !IsOwnCall(*last)) return chain;
  std::set<std::size_t> waiting = {last->index};
  while (!waiting.empty() && chain.calls.size() < kMostBack) {
    const Writer one{last->of_a, *waiting.rbegin()};
    waiting.erase(one.index);
    ASSIGN_OR_RETURN(const Call call, Read(one));
    chain.calls.push_back(one);
    if (!IsArrangement(call)) chain.telling.push_back(one);
    for (const CallTensor& input : call.inputs) {
      const std::optional<Writer> writer = WriterOf(input, one.of_a);
      if (writer && IsOwnCall(*writer) && writer->index < one.index) waiting.insert(writer->index);
    }
  }
  std::ranges::reverse(chain.calls);
  std::ranges::reverse(chain.telling);
  if (chain.telling.empty()) chain.telling = chain.calls;
  return chain;
}

}  // namespace rharness
