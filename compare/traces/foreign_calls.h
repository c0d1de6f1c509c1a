// Traces of operators by other tools, as traces of calls.
//
// Role: private to this folder. Nothing in a file is executed. Two formats:
//   PyTorch's DebugMode, what DebugMode.save_logs writes: JSON, "format"
//     "torch.utils._debug_mode.DebugMode.logs", version 1 (torch 2.15,
//     torch/utils/_debug_mode/_mode.py and _calls.py). With record_ids=True it says which call
//     wrote a tensor; with log_tensor_hashes(hash_inputs=True) what it was given.
//   torchtitan's numerics dump, rank_N_activations.log (torchtitan, tools/activation_tracer.py):
//     norms of seven digits by DebugMode; views, casts and small tensors are left out.
// Their hashes are no digests of the bytes: an L1 norm in fp64, or torch.hash_tensor's XOR.
// Equal ones are taken as equal, which a note says.
#ifndef RHARNESS_COMPARE_TRACES_FOREIGN_CALLS_H_
#define RHARNESS_COMPARE_TRACES_FOREIGN_CALLS_H_

#include <filesystem>
#include <string>
#include <string_view>

#include "compare/traces/calls.h"
#include "harness/base/result.h"

namespace rharness {

enum class CallFormat { kNone, kOwn, kDebugMode, kTorchtitan };

// By how a file begins.
CallFormat CallFormatOf(std::string_view head);

// Errors: invalid_input, with `path` and the place; unsupported (a newer version).
Result<CallTrace> ParseDebugModeLogs(std::string_view text, const std::string& path);
Result<CallTrace> ParseTorchtitanDump(std::string_view text, const std::string& path);

// Adds a call whose line is kept in memory. In call_line.cc.
void HoldCall(const Call& call, CallTrace* trace);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TRACES_FOREIGN_CALLS_H_
