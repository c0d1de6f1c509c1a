// A fingerprint as it is read: "rharness.fingerprint/v1", what each probe saw on one stack.
//
// Role: the value that diff, gate and fleet work on. Written by the probe program, which knows
// nothing of this folder.
#ifndef RHARNESS_COMPARE_FINGERPRINTS_FINGERPRINT_H_
#define RHARNESS_COMPARE_FINGERPRINTS_FINGERPRINT_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"
#include "probes/order/sum_tree.h"

namespace rharness {

struct FingerprintTree {
  std::string name;  // "8-way strided + pairwise"
  int leaves = 0;
  std::string sha256;           // of the canonical text
  std::optional<SumTree> tree;  // where the canonical text was kept
};

struct FingerprintProbe {
  std::string name;
  std::string family;
  std::string device;
  std::string status;  // "ok", "absent", "failed", "crashed", "timed_out"
  std::string message;
  std::map<std::string, std::string> choices;  // case to canonical JSON text
  std::map<std::string, FingerprintTree> trees;
  std::map<std::string, std::string> bits;  // case to SHA-256
  bool deterministic = true;
  std::vector<std::string> unstable;  // cases
};

struct Fingerprint {
  std::string file;
  std::map<std::string, std::string> stack;  // flattened: "libraries.cublas.version"
  std::string hardware_class;                // GPU model, or CPU model without one
  std::string suite;                         // "ok", or what is broken
  std::vector<FingerprintProbe> probes;      // by name
};

inline constexpr int kFingerprintVersion = 1;
// Errors: invalid_input with file and JSON path; unsupported for a newer schema. A fingerprint
// without probes is valid here; that it shows nothing is for diff and gate to say.
Result<Fingerprint> ParseFingerprint(const Json& json, std::string_view file);
Result<Fingerprint> LoadFingerprint(const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_FINGERPRINTS_FINGERPRINT_H_
