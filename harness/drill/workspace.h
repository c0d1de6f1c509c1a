// A rerun's workspace: code and data put in place as the command expects them, proved to be the
// recorded ones before the run and again after it.
//
// Role: the edge where manifests from strangers meet the file system. Everything lies below the
// workspace; what cannot be had as recorded is an Obstacle that names its layer, not an Error.
#ifndef RHARNESS_HARNESS_DRILL_WORKSPACE_H_
#define RHARNESS_HARNESS_DRILL_WORKSPACE_H_

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/result.h"
#include "harness/launch/job.h"
#include "harness/manifest/evidence.h"
#include "harness/manifest/manifest.h"

namespace rharness {

// Where recorded places lie on this machine. Relative locations are below `root`; a location that
// equals `from` or lies below it is looked up below `to` (the longest `from` wins).
struct Places {
  std::filesystem::path root = ".";
  std::vector<std::pair<std::string, std::filesystem::path>> maps;
};
// Errors: invalid_input for ".." and control characters in relative locations, unsupported for URLs
// that no map covers.
Result<std::filesystem::path> Locate(const Places& places, const std::string& location);

// Content hashes, remembered while a file's identity (device, inode, size, mtime, ctime) stays the
// same and its last change is at least two seconds older than the hash. Thread-safe.
class ContentCache {
 public:
  struct Content {
    std::string sha256;
    std::uint64_t size_bytes = 0;
  };
  // A file's SHA-256, or HashTree of a directory. Directories are always hashed again.
  Result<Content> Hash(const std::filesystem::path& path);

 private:
  std::mutex mutex_;
  std::map<std::string, Content> known_;  // by path and identity
};

struct Obstacle {
  std::string layer;   // a layer's name, or empty: infrastructure
  std::string reason;  // one sentence
};

struct Workspace {
  std::filesystem::path path;
  std::vector<Mount> mounts;  // read-only sources that links inside point to
  std::string code_commit;
  std::vector<CodeFile> code_files;
  std::vector<CodeFile> checkout;  // regular files that git tracks, as hashed before the run
  std::vector<DataItem> data;      // as hashed before the run
  std::optional<Obstacle> obstacle;
};

// Data up to this size is copied into the workspace, so that a run which writes to its input harms
// a copy; larger data is linked.
inline constexpr std::uint64_t kCopyLimitBytes = std::uint64_t{64} << 20;

// Makes `path` anew (an old one is removed), puts code and data in place and verifies them against
// the manifest. An obstacle leaves the workspace partly filled. Errors: the machine's trouble (io,
// process, timeout), which is never taken for an obstacle.
Result<Workspace> PrepareWorkspace(const Manifest& manifest, const std::filesystem::path& path,
                                   const Places& places, ContentCache* cache);

// Verifies code and data again after the run: one remark for each that changed meanwhile. Errors:
// the machine's trouble.
Result<std::vector<Remark>> VerifyAfterRun(const Manifest& manifest, const Workspace& workspace,
                                           ContentCache* cache);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_DRILL_WORKSPACE_H_
