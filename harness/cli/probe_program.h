// The program that takes fingerprints, which rharness calls and never links.
#ifndef RHARNESS_HARNESS_CLI_PROBE_PROGRAM_H_
#define RHARNESS_HARNESS_CLI_PROBE_PROGRAM_H_

#include <cstdint>
#include <filesystem>
#include <string>

#include "harness/base/result.h"

namespace rharness {

inline constexpr char kProbeProgram[] = "rharness-probe";
inline constexpr char kPortableProbeProgram[] = "rharness-probe-portable";  // for an older glibc
inline constexpr std::uint64_t kMostFingerprintBytes = std::uint64_t{256} << 20;

// The program that was named (--program or RHARNESS_PROBE; may be empty), else the one beside this
// program, for an image the portable one if there is one. Absolute, and no link. Errors: not_found,
// io.
Result<std::filesystem::path> FindProbeProgram(const std::string& named, bool for_image);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_PROBE_PROGRAM_H_
