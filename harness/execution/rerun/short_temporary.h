// A short name for the folder of a rerun's temporary files.
//
// Role: the folder lies in the workspace, where the rerun's limit of disk holds and nothing stays
// behind; its path may be long. Programs make sockets in $TMPDIR (the workers of a PyTorch loader
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
  // Python puts two names of 14 and 18 bytes below it: 107 - 32, and some room.
  static constexpr std::size_t kLongest = 64;

  // Of a path that is short enough, nothing is made. Where no link can be made, or none that is
  // shorter, the name is `folder` itself.
  explicit ShortTemporary(const std::filesystem::path& folder);

  // The folder, or a link to it that is there as long as this object is.
  const std::filesystem::path& name() const { return name_; }
  // Where TMPDIR is the folder, and not what a record or a drill sets.
  void PutInto(std::map<std::string, std::string>* variables) const;

 private:
  std::filesystem::path folder_;
  std::filesystem::path name_;
  std::optional<ScopedTempDir> place_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_EXECUTION_RERUN_SHORT_TEMPORARY_H_
