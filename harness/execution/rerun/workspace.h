// A rerun's workspace: code and data in the places that the command expects, proved to be the
// recorded ones before the run and again after it.
//
// Role: the boundary between untrusted manifests and the file system. Everything lies below the
// workspace; a part that is not available as recorded is an Obstacle that names its layer, not an
// Error.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_WORKSPACE_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_WORKSPACE_H_

#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/held_folder.h"
#include "harness/base/result.h"
#include "harness/execution/launch/job.h"
#include "harness/execution/rerun/checkout.h"
#include "harness/execution/rerun/obstacle.h"
#include "harness/execution/rerun/places.h"
#include "harness/execution/rerun/python_place.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

// Content hashes, cached while a file's identity (device, inode, size, mtime, ctime) stays the same
// and its last change is at least two seconds older than the hash. Thread-safe.
class ContentCache {
 public:
  struct Content {
    std::string sha256;
    std::uint64_t size_bytes = 0;
    std::vector<std::string> empty_folders = {};  // of a directory
  };
  // A file's SHA-256, or HashTree of a directory. Directories are always hashed again.
  Result<Content> Hash(const std::filesystem::path& path);

 private:
  std::mutex mutex_;
  std::map<std::string, Content> known_;  // by path and identity
};

// Whether a path still names the same file with the same content shows in: the path, device, inode,
// size, and times of the last change of content and of anything.
std::string FileIdentity(const std::filesystem::path& path, const struct stat& info);

// Where an item's bytes lie for the run.
struct PlacedData {
  std::filesystem::path at;    // below the workspace; for shared data: their absolute path
  bool shared = false;         // not the run's own copy
  std::filesystem::path link;  // below the workspace, to shared data; empty: mounted
  std::filesystem::path view;  // a folder below the workspace, of links to shared files
  // For shared data: device, inode, size and times of all files there, before the run. A program
  // that writes to a file or replaces it cannot restore its change time.
  std::string identity;
};

struct Workspace {
  std::filesystem::path path;
  std::shared_ptr<const HeldFolder> folder;  // the same, whatever becomes of the path
  std::vector<Mount> mounts;                 // read-only sources that links inside point to
  std::string code_commit;
  std::string code_diff_sha256;  // of the kept diff that is applied to it; empty: none
  std::vector<CodeFile> code_files;
  std::vector<TreeFile> checkout;  // files of the commit that are code: data may lie over some
  std::map<std::string, std::string> outputs_before;  // files there that it is to write
  std::vector<DataItem> data;                         // as hashed before the run
  std::vector<PlacedData> placed;                     // of each item of `data`
  PythonPlace python;                                 // of a run on the host
  std::vector<Finding> remarks;                       // what is not as recorded, and is no obstacle
  std::optional<Obstacle> obstacle;
};

// Data up to this size is copied into the workspace, so that a run which writes to its input harms
// a copy; larger files are cloned where the file system can, and else linked.
inline constexpr std::uint64_t kCopyLimitBytes = std::uint64_t{64} << 20;

// Makes `path` anew (an old one is removed), puts code and data in place and verifies them against
// the manifest. An obstacle leaves the workspace partly filled. Errors: the machine's trouble (io,
// process, timeout), which is never taken for an obstacle.
Result<Workspace> PrepareWorkspace(const Manifest& manifest, const std::filesystem::path& path,
                                   const Places& places, ContentCache* cache,
                                   const CheckoutLimits& limits = {});

// Verifies code and data again after the run: one remark for each that changed meanwhile. Errors:
// the machine's trouble.
Result<std::vector<Finding>> VerifyAfterRun(const Workspace& workspace, ContentCache* cache);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_WORKSPACE_H_
