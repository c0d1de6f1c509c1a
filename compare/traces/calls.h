// The operators that a run called at chosen steps, one by one: "rharness.calls/v1"
// (calls.schema.json).
//
// Role: the reader of files rank-N.calls by harness/records/observe/python/rharness_calls.py, or
// other writers. Of each call 48 bytes stay in memory, from which two traces are aligned; the rest
// is read again for the calls that a report shows. The file belongs to the run: a line of no known
// form is counted and left out.
#ifndef RHARNESS_COMPARE_TRACES_CALLS_H_
#define RHARNESS_COMPARE_TRACES_CALLS_H_

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

struct CallTensor {
  std::vector<std::uint64_t> shape;
  std::string dtype;   // "float32", as the framework spells it
  std::string digest;  // of the bytes in C order, by the method that the header names; empty: none
  double norm = std::numeric_limits<double>::quiet_NaN();  // Euclidean, of finite elements
  std::uint64_t nonfinite = 0;
  std::optional<std::int64_t> from;  // order of the call of this step that last wrote it
  std::string name;                  // of a parameter, buffer, gradient, state or batch member
  bool unseen = false;               // its content is not what `from` left: something else wrote it
  std::uint64_t count = 1;           // of tensors that this one stands for: the rest of a long list
};

struct Call {
  std::int64_t step = 0;
  std::int64_t order = 0;  // within the step
  std::string phase;       // "forward", "backward", "optimizer", "other"
  std::string module;      // "layers.0.fc1"; empty: outside of modules, or not known
  std::string op;          // "aten.addmm.default"
  std::string site;        // "train.py:42"
  std::string args;        // other arguments than tensors: "p=0.1, train=True"
  std::string rng;         // digest of the generator's state before it drew; empty: it did not
  std::string group;       // of a collective: "ranks 0-3 #5 SUM"
  std::string unit;        // "compiled", "triton", "scripted": one record for many operators
  bool view = false;       // computes nothing
  std::vector<CallTensor> inputs;
  std::vector<CallTensor> outputs;
};

struct CallEntry {
  std::uint64_t key = 0;    // hash of phase, module, operator and unit: what is aligned
  std::uint64_t given = 0;  // of arguments, generator, group without its number, and inputs
  std::uint64_t made = 0;   // of outputs
  std::uint64_t offset = 0;
  std::uint32_t order = 0;
  std::uint32_t site = 0;  // hash of the place in the code; 0: none
  std::uint16_t file = 0;  // of CallTrace::paths
  bool unknown = false;    // a tensor has no digest
  bool collective = false;
};

struct CallStep {
  std::int64_t step = 0;
  std::size_t first = 0;  // of CallTrace::entries
  std::size_t count = 0;
};

// The calls of one rank.
struct CallTrace {
  std::vector<std::string> paths;  // of its files
  bool given = false;              // the path is the caller's own, and may be a link
  int rank = 0;
  int world = 1;
  std::string framework;
  std::string framework_version;
  std::string digest;  // method of the digests: "sha256/64"
  std::map<std::string, std::string> flags;
  std::vector<CallEntry> entries;
  std::vector<CallStep> steps;  // ascending
  bool ended = false;           // a last line states it
  std::string trouble;          // why the hooks stopped; empty: they did not
  std::size_t bad_lines = 0;
  bool gaps = false;               // another tool's, which leaves out calls
  std::string held;                // lines of a trace that was converted, instead of files
  std::vector<std::string> notes;  // a sentence each

  std::span<const CallEntry> Of(const CallStep& step) const {
    return std::span(entries).subspan(step.first, step.count);
  }
  // Opens its file again: of a thousand ranks not all can be open at once. Errors: io, not_found;
  // invalid_input (the file has changed since, or the call has a member of another type).
  Result<Call> Read(const CallEntry& entry) const;
};

inline constexpr std::size_t kMostCalls = std::size_t{1} << 23;  // of a rank

// A file, or the files *.calls and rank_N_activations.log of a folder by rank; several files of one
// rank are joined in the order of their numbers, each from its first step on. Also what other tools
// write (foreign_calls.h), at most 1 GiB a file. Without any: an empty list. Errors: io,
// integrity (a link in the folder), invalid_input (no header, or that of a newer schema; more than
// kMostCalls).
Result<std::vector<CallTrace>> LoadCalls(const std::filesystem::path& path);
bool HasCalls(const std::filesystem::path& path);

// One line. `where` names it in errors.
Result<Call> ParseCall(std::string_view line, std::string_view where);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_TRACES_CALLS_H_
