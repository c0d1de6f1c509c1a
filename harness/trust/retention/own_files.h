// Recognises rharness' own files: a record, a drill's, or a named one.
//
// Role: private to this folder; such files are never deleted, whatever a manifest says.
#ifndef RHARNESS_HARNESS_TRUST_RETENTION_OWN_FILES_H_
#define RHARNESS_HARNESS_TRUST_RETENTION_OWN_FILES_H_

#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "harness/base/held_folder.h"
#include "harness/base/result.h"

namespace rharness {

class OwnFiles {
 public:
  // Files that are never deleted; missing ones are ignored.
  explicit OwnFiles(const std::set<std::filesystem::path>& named);

  // "a record of rharness (rharness.manifest/v1)"; empty: it is not ours. A folder with a
  // journal.jsonl is a drill's, with its whole content. Errors: io.
  Result<std::string> What(const HeldFolder& root, const std::filesystem::path& path) const;

 private:
  std::set<std::pair<std::uint64_t, std::uint64_t>> named_;  // device and inode
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_TRUST_RETENTION_OWN_FILES_H_
