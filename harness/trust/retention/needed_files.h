// What runs need to be rerun: their data, code and images, by content and by place.
//
// Role: private to this folder; what is needed is not deleted.
#ifndef RHARNESS_HARNESS_TRUST_RETENTION_NEEDED_FILES_H_
#define RHARNESS_HARNESS_TRUST_RETENTION_NEEDED_FILES_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/trust/retention/kept_places.h"
#include "harness/trust/retention/retention_plan.h"

namespace rharness {

// Of a location, where it lies below the root, in normal form. Errors: invalid_input for a URL, an
// absolute path that is not below the root, and what SafeRelativePath refuses.
Result<std::filesystem::path> BelowRoot(const std::string& location,
                                        const std::filesystem::path& root);

// Of the runs that are retired, or of the others: "data 'init' of run mlp-2". Errors: io.
Status AddNeeded(const std::vector<RunRecord>& runs, bool retired, KeptPlaces* places);

// What this run made: each file by its place, and by its content where it is not there as it was
// recorded. Errors: io.
Status AddMade(const Manifest& manifest, KeptPlaces* places);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_RETENTION_NEEDED_FILES_H_
