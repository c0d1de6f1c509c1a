// The files that reruns need: data, code and images, by content and by place.
//
// Role: private to this folder; needed files are not deleted.
#ifndef RHARNESS_HARNESS_TRUST_RETENTION_NEEDED_FILES_H_
#define RHARNESS_HARNESS_TRUST_RETENTION_NEEDED_FILES_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/trust/retention/kept_places.h"
#include "harness/trust/retention/retention_plan.h"

namespace rharness {

// The location below the root, in normal form. Errors: invalid_input for a URL, an absolute path
// outside of the root, and paths that SafeRelativePath refuses.
Result<std::filesystem::path> BelowRoot(const std::string& location,
                                        const std::filesystem::path& root);

// For the retired runs, or for the others: "data 'init' of run mlp-2". Errors: io.
Status AddNeeded(const std::vector<RunRecord>& runs, bool retired, KeptPlaces* places);

// The outputs of this run: each file by its place, and by its content if it is not there as
// recorded. Errors: io.
Status AddMade(const Manifest& manifest, KeptPlaces* places);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_RETENTION_NEEDED_FILES_H_
