// The program that takes fingerprints, which rharness calls and never links.
#ifndef RHARNESS_HARNESS_CLI_PROBE_PROGRAM_H_
#define RHARNESS_HARNESS_CLI_PROBE_PROGRAM_H_

#include <cstdint>
#include <filesystem>

#include "harness/base/result.h"

namespace rharness {

inline constexpr char kProbeProgram[] = "rharness-probe";
inline constexpr std::uint64_t kMostFingerprintBytes = std::uint64_t{256} << 20;

// The file beside this program. Errors: not_found, io.
Result<std::filesystem::path> FindProbeProgram();

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_PROBE_PROGRAM_H_
