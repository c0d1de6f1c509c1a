// The description of a system in an MLPerf submission.
//
// Role: private to mlperf.cc.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_MLPERF_SYSTEM_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_MLPERF_SYSTEM_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "harness/records/intake/imported_run.h"

namespace rharness {

// CPU, GPUs of one node, driver and software of SUBMISSION/systems/SYSTEM.json, 1 MiB at most. All
// of it is a hint: people wrote it about a system, and no run measured it. An absent or unreadable
// one is a remark.
void AddMlperfSystem(const std::filesystem::path& submission, const std::string& system,
                     ImportedRun* run);

// "183359 MiB", "80GiB" in bytes. Empty for "180 GB", which is ambiguous (some mean GiB).
std::optional<std::uint64_t> DescribedMemory(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_MLPERF_SYSTEM_H_
