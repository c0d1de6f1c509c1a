// The records of one step on both sides, each related to its sources.
//
// Role: private to this folder, pure: the part of FindOnset that looks at one step.
#ifndef RHARNESS_COMPARE_TRACES_RELATE_H_
#define RHARNESS_COMPARE_TRACES_RELATE_H_

#include <map>
#include <span>
#include <vector>

#include "compare/traces/onset.h"

namespace rharness {

struct StepSides {
  std::span<const TraceRecord> a;
  std::span<const TraceRecord> b;
  // The trace ends in this step, possibly within it: records missing there were not written.
  bool a_ends = false;
  bool b_ends = false;
  bool parted_before = false;  // some step before differed
};

// In the order of A, with B's own where B has them. A record is paired with the one of the same
// kind, name, call and index, the second of two such with the second. A difference is handed on if
// one of these sources differs:
//   parameter, buffer, state   the steps before
//   input, loss                everything before it in the forward pass
//   output                     its inputs, parameters and buffers below its name, operators within
//                              it; if no input was written, as for an input
//   output_gradient            everything before it in the step
//   gradient                   the inputs and output gradients of its operator, its parameter
//   updated                    its parameter, gradient and optimizer state
//   setting, rng, batch        nothing
std::vector<OnsetRecord> RelateRecords(const StepSides& step);

// Whether a record can be where runs part: settings and generators only explain.
bool IsComputed(TraceKind kind);

// The records of a trace by step.
using StepSpans = std::map<std::int64_t, std::span<const TraceRecord>>;
StepSpans SpansOf(const Trace& trace);

// Where two traces of one rank part; FindOnset calls it for each.
Onset OnsetOfRank(const Trace& a, const Trace& b);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TRACES_RELATE_H_
