// Which call of a step wrote a tensor, and whether both runs have that call.
//
// Role: private to this folder: FindParting walks back along it from the first call that differs.
#ifndef RHARNESS_COMPARE_TRACES_CALL_WRITERS_H_
#define RHARNESS_COMPARE_TRACES_CALL_WRITERS_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "compare/traces/call_parting.h"

namespace rharness {

// A call of one side.
struct Writer {
  bool of_a = true;
  std::size_t index = 0;  // in the step
};

// Makes or arranges a tensor, and computes nothing: by its trace, or by its name.
bool IsArrangement(const Call& call);

// Calls that one run has alone, each computed from those before it.
struct OwnChain {
  std::vector<Writer> calls;
  // Of these, those that compute, instead of making or arranging a tensor; without any, all.
  std::vector<Writer> telling;
};

class CallWriters {
 public:
  explicit CallWriters(const StepCalls& step);

  // Nothing: no call of the step, or one that was not written.
  std::optional<Writer> WriterOf(const CallTensor& tensor, bool of_a) const;
  // The same call of the other side; kNoCall: the other side does not have it.
  std::uint32_t PartnerOf(const Writer& writer) const;
  bool IsOwnCall(const Writer& writer) const { return PartnerOf(writer) == kNoCall; }
  Result<Call> Read(const Writer& writer) const;
  // Up to `last`; empty where that is no own call.
  Result<OwnChain> ChainOf(const std::optional<Writer>& last) const;

 private:
  const StepCalls& step_;
  std::vector<std::uint32_t> of_a_;  // of each call of A, its partner in B
  std::vector<std::uint32_t> of_b_;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TRACES_CALL_WRITERS_H_
