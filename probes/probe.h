// A probe: one question about the arithmetic of a stack, and its answer.
//
// Role: the noun of this folder. A probe is one file that ends with its RegisterProbe; it is run in
// a child process of its own by runner.h. Not here: judging, comparing (compare/fingerprints).
#ifndef RHARNESS_PROBES_PROBE_H_
#define RHARNESS_PROBES_PROBE_H_

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/verdict/states.h"
#include "probes/order/sum_tree.h"

namespace rharness {

struct ProbeContext {
  std::string device = "cpu";                        // "cpu", "cuda:0", ...
  int repeats = 3;                                   // repeats of each result in one process
  std::uint64_t seed = 1;                            // of input data; part of the fingerprint
  std::vector<std::filesystem::path> library_paths;  // searched before the loader's own path
  std::string python;  // the interpreter whose NumPy is probed; empty: none
  // From then on no further case is begun, so that the others are kept. Empty: no limit.
  std::optional<std::chrono::steady_clock::time_point> until;
};

// The results of a probe, case by case: a case is one set of parameters, such as "fp32 1x1x4096".
// The same names on every stack. Nothing here depends on time, addresses or the machine's name.
struct ProbeResult {
  ProbeStatus status = ProbeStatus::kOk;
  std::string message;  // why it is absent or failed, with the library's own error text
  Json parameters;      // object: shapes, types, seeds
  std::map<std::string, Json> choices;   // algorithm, tile, split-K, engine, knobs, notes
  std::map<std::string, SumTree> trees;  // summation order
  // Further facts of a case's tree, as members of its entry in the fingerprint: "arithmetic",
  // "replayed", "outputs", "all_outputs", "regions_sha256", "regions" (see runner.h).
  std::map<std::string, Json> tree_details;
  std::map<std::string, std::string> bits;  // SHA-256 (hex) of the output's bytes
  // Cases whose repeats in this process differed; the runner adds those of fresh processes.
  std::vector<std::string> unstable;
  std::map<std::string, std::uint64_t> counts;  // masked sums, launches, distinct values
  // DescribeLibrary of each library that was called, by soname: they go into the stack.
  std::map<std::string, Json> libraries;
  std::vector<std::string> notes;  // "tree not revealed: ..."
  // The context's library paths that were used: for the runner alone.
  std::vector<std::string> folders;
};
// {"name", "leaves", "sha256", "canonical"}: the text is left out above kLongestCanonicalBytes.
Json DescribeTree(const SumTree& tree);

ProbeResult AbsentProbe(std::string message);
ProbeResult FailedProbe(std::string message);

enum class ProbeDevice { kCpu, kGpu };

struct Probe {
  std::string_view name;     // "gemm_tree_fp32"; unique
  std::string_view family;   // what manifests depend on: "gemm", "reduction", "convolution",
                             // "collective", "math", "scalar", "compiler", "identity"
  std::string_view summary;  // one line for `probe list`
  ProbeDevice device = ProbeDevice::kCpu;
  ProbeResult (*run)(const ProbeContext& context) = nullptr;
  // A control that must come out non-deterministic: if it does not, the suite is broken.
  bool must_be_unstable = false;
  // Runs only by name: it takes long, and gives the same result on every node with the same
  // libraries.
  bool by_name = false;
  std::chrono::seconds limit{60};
};

// At namespace scope at the bottom of a probe's file. The files are linked as an object library, or
// the linker would drop them.
class RegisterProbe {
 public:
  explicit RegisterProbe(const Probe& probe);
};

// All registered probes, sorted by name.
const std::vector<Probe>& Probes();

}  // namespace rharness

#endif  // RHARNESS_PROBES_PROBE_H_
