// Which files of a folder are manifests, for the verbs that take a folder for the manifests in it.
#ifndef RHARNESS_HARNESS_CLI_MANIFEST_FILES_H_
#define RHARNESS_HARNESS_CLI_MANIFEST_FILES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/execution/rerun/places.h"

namespace rharness {

struct ManifestFiles {
  std::vector<std::string> files;  // sorted by path
  std::size_t skipped = 0;         // other files of the folder
};

// Every *.json file below the folder, however deep, that says of itself that it is a manifest. A
// damaged one counts, and so does one that may not be read: it must not be passed by in silence.
// Links to folders are not followed.
// Errors: io; not_found where there is none.
Result<ManifestFiles> FindManifests(const std::string& folder);

// The two steps of it, for who reads the files anyway. All files below the folder, sorted by path.
// Errors: io.
Result<std::vector<std::string>> FilesBelow(const std::string& folder);
// The text of such a file, if it is a manifest. Errors: those of reading one that may be one.
Result<std::optional<std::string>> ReadIfManifest(const std::string& file);
Error NoManifestIn(const std::string& folder);

// Whether each map has something to map in one of these manifests. Reads them until it has. Errors:
// invalid_input for one that has not; those of reading.
Status RequireUsedMaps(const Places& places, const std::vector<std::string>& files);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_MANIFEST_FILES_H_
