// What `rharness record` says it found, where nobody stated it.
//
// Role: the terminal's view of the hints in a manifest's origin (harness/execution/rerun).
#ifndef RHARNESS_HARNESS_CLI_RECORD_FOUND_H_
#define RHARNESS_HARNESS_CLI_RECORD_FOUND_H_

#include <filesystem>

#include "harness/records/manifest/manifest.h"

namespace rharness {

// One line a guess, and the command that drills the folder of `out`. Nothing where nothing was
// guessed, or with --quiet.
void SayFound(const Manifest& manifest, const std::filesystem::path& out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_RECORD_FOUND_H_
