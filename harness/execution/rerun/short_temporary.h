// A short name for the folder of a rerun's temporary files.
//
// Role: the folder lies in the workspace, where the rerun's disk limit applies and cleanup is
// complete; its path may be long. Programs make sockets in $TMPDIR (the workers of a PyTorch loader
// do), and the address of a socket has 107 bytes. A container would not see the link.
#ifndef RHARNESS_HARNESS_EXECUTION_RERUN_SHORT_TEMPORARY_H_
#define RHARNESS_HARNESS_EXECUTION_RERUN_SHORT_TEMPORARY_H_

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "harness/base/files.h"

namespace rharness {

class ShortTemporary {
 public:
  // Python adds two names of 14 and 18 bytes: 107 - 32, and some room.
  static constexpr std::size_t kLongest = 64;

  // Makes nothing if the path is short enough. If no link can be made, or none that is shorter, the
  // name is `folder` itself.
  explicit ShortTemporary(const std::filesystem::path& folder);

  // The folder, or a link to it that exists as long as this object.
  const std::filesystem::path& name() const { return name_; }
  // Replaces a TMPDIR that is the folder, but not one set by a record or a drill.
  void PutInto(std::map<std::string, std::string>* variables) const;

 private:
  std::filesystem::path folder_;
  std::filesystem::path name_;
  std::optional<ScopedTempDir> place_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_SHORT_TEMPORARY_H_
