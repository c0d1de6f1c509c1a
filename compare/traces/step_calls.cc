// The calls of a step in pairs: which differ, and which only lack a digest on one side.
#include <algorithm>

#include "compare/traces/call_line.h"
#include "compare/traces/call_parting.h"

namespace rharness {
namespace {

bool AreSame(const std::vector<CallTensor>& a, const std::vector<CallTensor>& b) {
  return std::ranges::equal(a, b, IsSameTensor);
}

}  // namespace

Status StepCalls::ReadMissingDigests() {
  for (CallMatch& match : matches) {
    if (IsOwn(match) || !(EntryA(match).unknown || EntryB(match).unknown)) continue;
    if (!GivenDiffers(match) && !MadeDiffers(match)) continue;
    ASSIGN_OR_RETURN(const Call one, a.Read(EntryA(match)));
    ASSIGN_OR_RETURN(const Call other, b.Read(EntryB(match)));
    match.same_given = one.args == other.args && one.rng == other.rng &&
                       GroupWithoutNumber(one.group) == GroupWithoutNumber(other.group) &&
                       AreSame(one.inputs, other.inputs);
    match.same_made = AreSame(one.outputs, other.outputs);
  }
  return {};
}

RecordState StepCalls::StateOf(const CallMatch& match) const {
  if (match.b == kNoCall) return RecordState::kOnlyA;
  if (match.a == kNoCall) return RecordState::kOnlyB;
  const CallEntry& one = EntryA(match);
  const CallEntry& other = EntryB(match);
  if (MadeDiffers(match)) {
    return GivenDiffers(match) ? RecordState::kHandedOn : RecordState::kOrigin;
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
  return MadeDiffers(match) || (unknown && GivenDiffers(match));
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

Status AddOwnCalls(const StepCalls& step, CallOnset* onset) {
  for (const CallMatch& one : step.matches) {
    if (onset->own.size() == kMostOwnCalls) break;
    if (!IsOwn(one) && !one.moved) continue;
    ASSIGN_OR_RETURN(CallPair pair, step.Pair(one));
    onset->own.push_back(std::move(pair));
  }
  return {};
}

}  // namespace rharness
