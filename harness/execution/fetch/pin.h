// Pinning: a source that may change, as the one content that it has now.
//
// Role: for `record` and `import --complete`, of sources that somebody states. What a rerun trusts is the
// SHA-256 of the manifest; a pin is what lets the same content be asked for again.
#ifndef RHARNESS_HARNESS_EXECUTION_FETCH_PIN_H_
#define RHARNESS_HARNESS_EXECUTION_FETCH_PIN_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/execution/fetch/remote.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

struct Pinned {
  std::string source;        // with the version or the commit that it is now
  std::string other_digest;  // "etag:...": what the server says of the content; may be empty
  // exact: the server's own SHA-256 is that of the file; hint: only its size is known to be.
  Grade grade = Grade::kHint;
  std::string how;  // one clause
};

// Asks the server about `source` and holds what it says to the file at `path`. Of S3 the version
// that the object has now, of lakeFS the commit that a branch is; without versions, and of http,
// the source as it is. Errors: invalid_input for a folder, and where the server has other bytes
// (their number, or their SHA-256); those of the server.
Result<Pinned> PinSource(const std::string& source, const std::filesystem::path& path,
                         const RemoteOptions& options = {});

struct PinnedItem {
  std::string name;  // of the data item
  Grade grade = Grade::kHint;
  std::string how;
};
// Of each "NAME=SOURCE": pins the source of that data item. Errors: those of PinSource;
// invalid_input for a name that no data has.
Result<std::vector<PinnedItem>> PinSources(const std::vector<std::string>& named,
                                           std::vector<DataItem>* data,
                                           const RemoteOptions& options = {});
// Says in the manifest's origin what each is worth.
void SayPins(const std::vector<PinnedItem>& pins, Manifest* manifest);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_FETCH_PIN_H_
