// A fingerprint as read: "rharness.fingerprint/v1", what each probe saw on one stack.
//
// Role: the value that diff, gate and fleet work on. The probe program writes it and knows nothing
// of this folder.
#ifndef RHARNESS_COMPARE_FINGERPRINTS_FINGERPRINT_H_
#define RHARNESS_COMPARE_FINGERPRINTS_FINGERPRINT_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/facts.h"
#include "harness/base/json.h"
#include "harness/base/result.h"
#include "harness/verdict/states.h"
#include "probes/order/sum_tree.h"

namespace rharness {

struct FingerprintTree {
  std::string name;  // "8-way strided + pairwise"
  int leaves = 0;
  std::string sha256;           // of the canonical text
  std::optional<SumTree> tree;  // where the canonical text was kept

  // Of sums of products; empty, and 0, if the file does not state it, as older files.
  std::string arithmetic;  // "products fused; sums rounded"
  std::string rounding;    // the same term by term: equal for equal arithmetic
  int inputs = 0;          // ordinary inputs that were replayed
  int predicted = 0;       // of these, inputs whose bits match order and arithmetic
  int row = 0;             // row of the first output with this order
  int column = 0;
  std::int64_t outputs = 0;              // that it is of
  std::int64_t all_outputs = 0;          // of the case
  std::string regions_sha256;            // which output is in which region
  std::vector<FingerprintTree> regions;  // the others of this case
};

struct FingerprintProbe {
  std::string name;
  std::string family;
  std::string device;
  ProbeStatus status = ProbeStatus::kFailed;
  std::string message;
  std::map<std::string, std::string> parameters;  // requested values: name to JSON text
  std::map<std::string, std::string> choices;     // case to JSON text, members sorted by name
  std::map<std::string, FingerprintTree> trees;
  std::map<std::string, std::string> bits;  // case to SHA-256
  // Case to the error's text: of those that failed beside others, which are in none of the above.
  std::map<std::string, std::string> failed;
  bool deterministic = true;
  std::vector<std::string> unstable;  // cases

  bool Ok() const { return status == ProbeStatus::kOk; }
  // It worked and has a case that repeats; a probe of the stack's identity need only have worked.
  bool Shows() const;
  // Its repeats differed: one of several answers, which compares with nothing. True for every case
  // of a non-deterministic probe that names no case.
  bool IsUnstable(const std::string& name) const;
};

struct Fingerprint {
  std::string file;
  std::string node;  // host that made it; may be empty
  std::string made;  // when, as the file states it: "2026-11-20T17:56:05.770Z"; may be empty
  std::map<std::string, std::string>
      stack;                   // flattened: "libraries.cublas.version", "gpus.0.model"
  std::string hardware_class;  // GPU model, or CPU model without one; may be empty
  std::string suite;           // "ok", or what is broken
  // Repeats of each result: in one process, and processes; 0: not stated.
  int repeats = 0;
  int processes = 0;
  std::vector<std::string> by_name;      // probes left out: they run only by name
  std::vector<FingerprintProbe> probes;  // by name
};

// Probes of this family identify a stack, not its arithmetic: their choices are read as facts of
// the stack ("env_ident_cuda.device.compute_capability").
inline constexpr std::string_view kIdentityFamily = "identity";

// Choices of this family are answers of a served model.
inline constexpr std::string_view kServingFamily = "serving";

// Every run depends on the probes of this family, whatever it declares.
inline constexpr std::string_view kScalarFamily = "scalar";

inline constexpr int kFingerprintVersion = 1;
// Errors: invalid_input with file and JSON path (also for unknown members, but for "x-...", a name
// twice, a digest that is none, a tree whose text, leaves and digest disagree, another document of
// rharness by its name); unsupported for a newer schema. A fingerprint without probes is valid
// here; diff and gate report that it shows nothing.
Result<Fingerprint> ParseFingerprint(const Json& json, std::string_view file);
Result<Fingerprint> LoadFingerprint(const std::filesystem::path& path);

// A file that could not be read as a fingerprint: one that shows nothing, with the reason as its
// suite's, so that a gate closes for lack of evidence.
Fingerprint UnreadableFingerprint(std::string_view file, const Error& error);
// As LoadFingerprint, but a file that is no valid fingerprint becomes an unreadable one. Another
// document of rharness, such as a manifest, was named by mistake: invalid_input. `sha256`, if
// given, becomes the digest of the bytes read.
Result<Fingerprint> LoadAsEvidence(const std::filesystem::path& path,
                                   std::string* sha256 = nullptr);

// The layer of a fact of the stack, by the words of its key.
Layer LayerOfStack(std::string_view key);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FINGERPRINTS_FINGERPRINT_H_
