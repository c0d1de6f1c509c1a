// The file of a manifest that --out does not name.
#ifndef RHARNESS_HARNESS_CLI_MANIFEST_NAME_H_
#define RHARNESS_HARNESS_CLI_MANIFEST_NAME_H_

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/execution/rerun/rendezvous.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// runs/FAMILY-N.json, the first that is free.
std::filesystem::path NextManifest(const std::vector<std::string>& command);

// As chosen for the tasks that this program started on this machine; empty: others start them.
std::string OutOfGang();

// For tasks that others started, which cannot agree on a free name, one by the name of the run.
// Errors: invalid_input if the run has no name.
Result<std::string> FreeManifest(const std::vector<std::string>& command,
                                 const std::optional<TaskPlace>& task);

// Reserves the file of a manifest whose name was chosen here. If another recording has taken the
// name meanwhile, the next free one. Errors: io.
Status TakePlace(const std::vector<std::string>& command, Manifest* manifest,
                 std::filesystem::path* out);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_MANIFEST_NAME_H_
