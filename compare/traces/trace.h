// What a run computed at chosen steps, tensor by tensor: "rharness.trace/v1" (trace.schema.json).
//
// Role: the reader of files by harness/records/observe/python/rharness_trace.py, or other writers.
// The file belongs to the run: each line must match its form; others are reported and left out.
#ifndef RHARNESS_COMPARE_TRACES_TRACE_H_
#define RHARNESS_COMPARE_TRACES_TRACE_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

enum class TraceKind {
  kSetting,         // of the optimizer, a value instead of a tensor
  kRng,             // the state of a generator of random numbers
  kParameter,       // at the start of the step
  kBuffer,          // likewise: running means and the like
  kState,           // of the optimizer, likewise
  kBatch,           // input of the model or the loss
  kInput,           // of an operator
  kOutput,          // of an operator
  kLoss,            // the value that the gradient is taken of
  kOutputGradient,  // with respect to an operator's output: arrives when its backward runs
  kGradient,        // of a parameter, as passed to the optimizer
  kUpdated,         // a parameter after the optimizer's step
};
std::string_view TraceKindName(TraceKind kind);  // "output_gradient", ...

struct TraceRecord {
  std::int64_t step = 0;
  std::int64_t order = 0;  // within the step, as the network makes and uses them
  TraceKind kind = TraceKind::kOutput;
  std::string name;  // of the operator or the parameter: "layer1.0.conv1"; "" is the whole network
  std::string type;  // of the operator: "Conv2d"; may be empty
  int index = 0;     // which of several tensors of one call
  int call = 0;      // which call in this step
  std::vector<std::uint64_t> shape;
  std::string dtype;   // "float32", as the framework spells it
  std::string digest;  // "sha256:HEX" of the bytes in C order, or another method; empty: not known
  // Over finite elements. NaN: not known.
  double norm = 0.0;  // Euclidean
  double max = 0.0;   // of absolute values
  std::uint64_t nonfinite = 0;
  // Sums of the elements under fixed signs, element i with the sign of i mod 65536 in sum i mod 8:
  // the distance of two sketches estimates that of the tensors (Charikar, Chen, Farach-Colton 2002;
  // with 8 sums within about a third). Empty: not known.
  std::vector<double> sketch;
  bool random = false;  // an operator that drew random numbers
  std::string value;    // of kSetting
};

struct Trace {
  std::string path;
  int rank = 0;
  int world = 1;
  std::string framework;  // "torch"; may be empty
  std::string framework_version;
  std::map<std::string, std::string> flags;  // of the framework, at the beginning
  std::vector<TraceRecord> records;          // by step, in a step by order
  bool ended = false;                        // a last line states it, and there was no trouble
  std::string trouble;                       // why the hooks stopped; empty: they did not
  std::size_t bad_lines = 0;
  std::vector<std::string> notes;  // a sentence each: lines that are none, by number
};

inline constexpr std::uint64_t kMostTraceBytes = std::uint64_t{1} << 30;
inline constexpr std::size_t kMostTraceLine = std::size_t{1} << 20;
inline constexpr std::size_t kMostTraces = 65536;  // of a folder

// Counts lines of unknown form, and names the first few with their numbers; reports a last line
// without its end as cut off. Removes from names the prefix "module." that all parameters have (of
// a wrapper for several devices), and "_orig_mod." (of a compiler). Errors: invalid_input (no
// header, or that of a newer schema).
Result<Trace> ParseTrace(std::string_view text, std::string_view file);

// A file, or all *.jsonl of a folder, by rank; several files of one rank that have records are
// joined in the order of their numbers. Errors: those of ParseTrace; not_found (a folder without
// any), io, integrity (a link in the folder).
Result<std::vector<Trace>> LoadTraces(const std::filesystem::path& path);

// Whether a file begins like a trace, or a folder has such a file.
bool IsTrace(const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TRACES_TRACE_H_
