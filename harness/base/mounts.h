// Mount points, and the place of a path on its file system.
//
// Source: proc_pid_mountinfo(5).
#ifndef RHARNESS_HARNESS_BASE_MOUNTS_H_
#define RHARNESS_HARNESS_BASE_MOUNTS_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

struct MountPoint {
  std::string device;           // "8:1"
  std::filesystem::path root;   // the mounted folder or file of it
  std::filesystem::path point;  // where
};
// Those of this process, in the order of mounting. Errors: io.
Result<std::vector<MountPoint>> ReadMounts();

// Whether a path is this folder or lies below it, compared by parts alone.
bool IsAtOrBelow(const std::filesystem::path& path, const std::filesystem::path& folder);

// The same for every path at which a folder is mounted.
struct PlaceOnDevice {
  std::string device;
  std::filesystem::path path;
};
// `path`: absolute, with every link resolved.
PlaceOnDevice FindOnDevice(const std::vector<MountPoint>& mounts,
                           const std::filesystem::path& path);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_MOUNTS_H_
