// rharness history add: manifests, read once, checked as a whole, stored.
#ifndef RHARNESS_HARNESS_CLI_HISTORY_ADD_H_
#define RHARNESS_HARNESS_CLI_HISTORY_ADD_H_

#include <string>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

// Stores the manifests of these files, and of these folders however deep; tells what is missing in
// which, and how many are new. Returns the exit code: 2 where some are not complete enough and not
// forced, so that none is stored. Errors: those of reading and storing; integrity where a run is in
// the way of another of its name. What is stored is what was checked, whatever becomes of the
// files.
Result<int> AddManifests(const std::string& url, const std::vector<std::string>& paths, bool force);

// Those below the folder that the history has not yet, for a folder that stands for a history:
// where nothing is new nothing is said, and nothing is written. Errors: those, and invalid_input
// where some are not complete enough.
Status AddNewManifests(const std::string& url, const std::string& folder);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_HISTORY_ADD_H_
