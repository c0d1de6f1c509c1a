// The calls of one step on both sides, as two sequences that are aligned.
//
// Role: private to this folder, pure. What both begin and end with is paired. Then calls that occur
// once on each side (patience sorting, as of Bram Cohen's diff): those equal in everything, between
// them those of equal inputs, between them those of one place in the code. What is left is paired
// with the fewest insertions and deletions of calls of one key (Myers 1986, Algorithmica 1:251, up
// to kMostEdits; beyond, the n-th of a key with the n-th). Of the rest, calls of one key on both
// sides were moved.
#ifndef RHARNESS_COMPARE_TRACES_ALIGN_CALLS_H_
#define RHARNESS_COMPARE_TRACES_ALIGN_CALLS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "compare/traces/calls.h"

namespace rharness {

inline constexpr int kMostEdits = 1024;
inline constexpr std::uint32_t kNoCall = 0xffffffff;

struct CallMatch {
  std::uint32_t a = kNoCall;  // index in the step; kNoCall: B alone has it
  std::uint32_t b = kNoCall;
  bool moved = false;  // both have it, in another order
  // Filled by StepCalls: the same but for digests that one side lacks.
  bool same_given = false;
  bool same_made = false;
};

// In the order of A, with B's own where B has them; each call once.
std::vector<CallMatch> AlignCalls(std::span<const CallEntry> a, std::span<const CallEntry> b);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TRACES_ALIGN_CALLS_H_
