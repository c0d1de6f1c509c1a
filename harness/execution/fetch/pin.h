// Pins a source that may change to its current content.
//
// Role: for `record` and `import --complete`, of sources that somebody states. What a rerun trusts
// is the SHA-256 of the manifest; a pin is what lets the same content be asked for again.
#ifndef RHARNESS_HARNESS_EXECUTION_FETCH_PIN_H_
#define RHARNESS_HARNESS_EXECUTION_FETCH_PIN_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/execution/fetch/remote.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

struct Pinned {
  std::string source;        // with its current version or commit
  std::string other_digest;  // "etag:...": the server's digest of the content; may be empty
  // exact: the server's own SHA-256 equals the file's; hint: only its size is known to be equal.
  Grade grade = Grade::kHint;
  std::string how;  // one clause
};

// Queries the server about `source` and compares the answer with the file at `path`. Pins the
// object's current version on S3, the commit of a branch on lakeFS; without versions, and for http,
// the source itself. Errors: invalid_input for a folder, and if the server has other bytes (their
// number, or their SHA-256); those of the server.
Result<Pinned> PinSource(const std::string& source, const std::filesystem::path& path,
                         const RemoteOptions& options = {});

struct PinnedItem {
  std::string name;  // of the data item
  Grade grade = Grade::kHint;
  std::string how;
};
// For each "NAME=SOURCE": pins the source of that data item. Errors: those of PinSource;
// invalid_input for a name that no data has.
Result<std::vector<PinnedItem>> PinSources(const std::vector<std::string>& named,
                                           std::vector<DataItem>* data,
                                           const RemoteOptions& options = {});
// Notes the grade of each pin in the manifest's origin.
void SayPins(const std::vector<PinnedItem>& pins, Manifest* manifest);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_FETCH_PIN_H_
