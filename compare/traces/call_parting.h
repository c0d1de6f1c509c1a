// Why the first call whose output differs does so.
//
// Role: private to this folder: the part of FindCallOnset that reads calls again. Where its inputs
// differ, too, it looks at what wrote them: a call that one run alone has, something that no call
// shows, or nothing of the step.
#ifndef RHARNESS_COMPARE_TRACES_CALL_PARTING_H_
#define RHARNESS_COMPARE_TRACES_CALL_PARTING_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "compare/traces/align_calls.h"
#include "compare/traces/call_onset.h"

namespace rharness {

inline bool IsOwn(const CallMatch& match) { return match.a == kNoCall || match.b == kNoCall; }

// A step that both sides have.
struct StepCalls {
  const CallTrace& a;
  const CallTrace& b;
  CallStep step_a;
  CallStep step_b;
  std::vector<CallMatch> matches;

  const CallEntry& EntryA(const CallMatch& match) const { return a.Of(step_a)[match.a]; }
  const CallEntry& EntryB(const CallMatch& match) const { return b.Of(step_b)[match.b]; }
  // Other arguments, generator, group or inputs; other outputs. A digest that one side lacks is no
  // difference, once ReadMissingDigests was called.
  bool GivenDiffers(const CallMatch& match) const {
    return EntryA(match).given != EntryB(match).given && !match.same_given;
  }
  bool MadeDiffers(const CallMatch& match) const {
    return EntryA(match).made != EntryB(match).made && !match.same_made;
  }
  // Reads the pairs whose digests are missing or differ for that reason. Errors: those of
  // CallTrace::Read.
  Status ReadMissingDigests();
  RecordState StateOf(const CallMatch& match) const;
  // A pair with other outputs.
  bool Differs(const CallMatch& match) const;
  Result<CallPair> Pair(const CallMatch& match) const;
};

// The traces of all ranks.
struct Peers {
  const std::vector<CallTrace>& a;
  const std::vector<CallTrace>& b;
};

// Fills `own`.
Status AddOwnCalls(const StepCalls& step, CallOnset* onset);

// `index`: of the step's first pair with other outputs. `before`: the first call that one side
// alone has of the step just before, in which nothing differs; `is_first`: there is no common step
// before. Fills all but the counts and what DescribeCallOnset does.
Status FindParting(const StepCalls& step, std::size_t index, const Peers& peers,
                   const std::optional<CallPair>& before, bool is_first, CallOnset* onset);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TRACES_CALL_PARTING_H_
