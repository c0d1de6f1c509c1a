// The records of one step on both sides, each related to what it was computed from.
//
// Role: private to this folder, pure: what FindOnset asks of a step.
#ifndef RHARNESS_COMPARE_TRACES_RELATE_H_
#define RHARNESS_COMPARE_TRACES_RELATE_H_

#include <span>
#include <vector>

#include "compare/traces/onset.h"

namespace rharness {

struct StepSides {
  std::span<const TraceRecord> a;
  std::span<const TraceRecord> b;
  // The trace ends in this step, within it for all that is known: what lacks there was not written.
  bool a_ends = false;
  bool b_ends = false;
  bool parted_before = false;  // some step before differed
};

// In the order of A, with B's own where B has them. A record is paired with the one of the same
// kind, name, call and index, the second of two such with the second. What differs is handed on
// where something differs of:
//   parameter, buffer, state   the steps before
//   input, loss                whatever the forward pass had before it
//   output                     its inputs, parameters and buffers below its name, operators within
//                              it; where no input was written, as of an input
//   output_gradient            whatever the step had before it
//   gradient                   the inputs and output gradients of its operator, its parameter
//   updated                    its parameter, gradient and optimizer state
//   setting, rng, batch        nothing
std::vector<OnsetRecord> RelateRecords(const StepSides& step);

// Whether a record can be where runs part: settings and generators only explain.
bool IsComputed(TraceKind kind);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TRACES_RELATE_H_
