// What a run computed at chosen steps, tensor by tensor: "rharness.trace/v1" (trace.schema.json).
//
// Role: the reader of what harness/records/observe/python/rharness_trace.py writes, or anybody
// else. The file is the run's own: each line is held to its form, and what has none is told and
// left out.
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
  kParameter,       // as the step begins with it
  kBuffer,          // likewise: running means and the like
  kState,           // of the optimizer, likewise
  kBatch,           // what the model, or the loss, is given
  kInput,           // of an operator
  kOutput,          // of an operator
  kLoss,            // what the gradient is taken of
  kOutputGradient,  // with respect to an operator's output: comes in when its backward runs
  kGradient,        // of a parameter, as the optimizer is given it
  kUpdated,         // a parameter after the optimizer's step
};
std::string_view TraceKindName(TraceKind kind);  // "output_gradient", ...

struct TraceRecord {
  std::int64_t step = 0;
  std::int64_t order = 0;  // among those of the step, as the network makes and uses them
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
  std::map<std::string, std::string> flags;  // of the framework, as they were at the beginning
  std::vector<TraceRecord> records;          // by step, in a step by order
  bool ended = false;                        // by a last line that says so, and no trouble
  std::string trouble;                       // why the hooks stopped; empty: they did not
  std::size_t bad_lines = 0;
  std::vector<std::string> notes;  // a sentence each: lines that are none, by number
};

inline constexpr std::uint64_t kMostTraceBytes = std::uint64_t{1} << 30;
inline constexpr std::size_t kMostTraceLine = std::size_t{1} << 20;
inline constexpr std::size_t kMostTraces = 65536;  // of a folder

// Lines of no known form are counted, and the first few named with their numbers; a last line
// without its end is told as cut off. The prefix "module." that all parameters have (of a wrapper
// for several devices), and "_orig_mod." (of a compiler), are taken off names. Errors:
// invalid_input (no header, or that of a newer schema).
Result<Trace> ParseTrace(std::string_view text, std::string_view file);

// A file, or all *.jsonl of a folder, by rank; of several of one rank those with records, one after
// the other as their numbers say. Errors: those of ParseTrace; not_found (a folder without any),
// io, integrity (a link in the folder).
Result<std::vector<Trace>> LoadTraces(const std::filesystem::path& path);

// Whether a file's first bytes are those of a trace, or a folder has such a file.
bool IsTrace(const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TRACES_TRACE_H_
