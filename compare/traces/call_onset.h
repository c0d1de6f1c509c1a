// Where two runs part, call by call: the first whose output differs on equal inputs.
//
// Role: pure, from the traces of calls of two runs (calls.h). The calls of a step are aligned as
// sequences (align_calls.h). Calls that only one run has, or has in another order, are listed. They
// are an origin only if the difference was computed from them.
#ifndef RHARNESS_COMPARE_TRACES_CALL_ONSET_H_
#define RHARNESS_COMPARE_TRACES_CALL_ONSET_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/traces/calls.h"
#include "compare/traces/onset.h"
#include "harness/base/result.h"

namespace rharness {

struct CallPair {
  Call a;  // of kOnlyB: B's
  Call b;  // of kOnlyA: A's
  RecordState state = RecordState::kEqual;
  bool moved = false;  // both have it, in another order
};

struct CallOnset {
  // "parts" (an origin is named), "equal" (no output differs), "other_rank" (what differs came from
  // a rank whose calls were not traced on both sides), "nothing_compared".
  std::string end = "nothing_compared";
  // Of "parts"; else empty:
  //   operator         equal inputs and arguments, another output
  //   random_operator  the generator was in another state before it drew
  //   arguments        other arguments than tensors differ, the number of tensors, or the group
  //   unknown_input    another output, and an input has no digest: it may differ
  //   collective       equal inputs of every traced rank, another result
  //   calls            what differs was computed by calls that one run alone has
  //   unseen_write     an input is not what the last call that wrote it left
  //   batch, initial_weights, initial_state, outside_of_steps, outside_value
  //                    an input that no traced call wrote: data, weights, or anything else
  std::string what;
  Layer layer = Layer::kEnvironment;  // of `what`
  int rank = 0;
  std::optional<CallPair> origin;
  std::string difference;         // of the origin, in a sentence
  std::vector<CallPair> around;   // of the step, kCallsAround before and after the origin
  std::vector<CallPair> further;  // of the step, others on equal inputs; at most kMostFurtherCalls
  // In one run alone or moved, of the step, at most kMostOwnCalls. Where nothing differs: of the
  // first step that has any.
  std::vector<CallPair> own;
  // Where nothing differs: the first pair that was given something else, with an equal output.
  std::optional<CallPair> absorbed;
  // Of all common steps.
  std::size_t paired = 0;
  std::size_t differing = 0;  // outputs
  std::size_t only_a = 0;
  std::size_t only_b = 0;
  std::size_t moved = 0;
  std::size_t unknown = 0;       // equal as far as their digests go, which are not all there
  std::vector<OnsetStep> steps;  // counts alone
  // Lines of the two could not be read: a call that seems to be missing may have stood there.
  bool damaged = false;
  std::string headline;  // one sentence
  std::string next;      // what to do now
  std::vector<std::string> reasons;
  std::vector<std::string> notes;
};

inline constexpr std::size_t kCallsAround = 6;
inline constexpr std::size_t kMostFurtherCalls = 20;
inline constexpr std::size_t kMostOwnCalls = 40;

// Uses every rank that both sides have, and reports the earliest origin that is not a collective
// whose input differs on another rank. Errors: those of CallTrace::Read.
Result<CallOnset> FindCallOnset(const std::vector<CallTrace>& a, const std::vector<CallTrace>& b);

// "aten.addmm.default in layers.0.fc1 (train.py:42)".
std::string NameOfCall(const Call& call);
// "input 1 (fc1.weight)".
std::string NameOfTensor(std::string_view list, std::size_t index, const CallTensor& tensor);
// What of the other arguments differs: "eps=1e-08 in A, eps=1e-05 in B".
std::string OtherArguments(const Call& a, const Call& b);
// As far as their digests go: one without a digest may be equal to any of its shape and type.
bool IsSameTensor(const CallTensor& a, const CallTensor& b);
// Fills headline, next and reasons from the rest.
void DescribeCallOnset(CallOnset* onset);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TRACES_CALL_ONSET_H_
