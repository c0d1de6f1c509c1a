// What runs need to be rerun: their data, code and images, by content and by place.
//
// Role: private to this folder; what is needed is not deleted. Pure.
#ifndef RHARNESS_HARNESS_RETENTION_NEEDED_FILES_H_
#define RHARNESS_HARNESS_RETENTION_NEEDED_FILES_H_

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/manifest/manifest.h"
#include "harness/retention/retention_plan.h"

namespace rharness {

// Of a location, where it lies below the root, in normal form. Errors: invalid_input for a URL, an
// absolute path that is not below the root, and what SafeRelativePath refuses.
Result<std::filesystem::path> BelowRoot(const std::string& location,
                                        const std::filesystem::path& root);

class NeededFiles {
 public:
  // Of the runs that are retired, or of the others. `root`: with every link resolved.
  NeededFiles(const std::vector<RunRecord>& runs, bool retired, const std::filesystem::path& root);

  // "data 'init' of run mlp-2"; empty: nobody needs this content, nor what lies at this place.
  std::string NeededFor(const std::string& sha256, const std::filesystem::path& path) const;

 private:
  void Add(const Manifest& manifest, const std::filesystem::path& root);
  void AddPlace(const std::string& location, const std::string& who,
                const std::filesystem::path& root);

  std::map<std::string, std::string> by_content_;          // SHA-256 to whose it is
  std::map<std::filesystem::path, std::string> by_place_;  // files and folders
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RETENTION_NEEDED_FILES_H_
