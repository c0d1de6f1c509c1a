// A comparison for the postmortem: all its reports in one archive.
#ifndef RHARNESS_HARNESS_JUDGE_COMPARISON_BUNDLE_H_
#define RHARNESS_HARNESS_JUDGE_COMPARISON_BUNDLE_H_

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace rharness {

struct BundleMember {
  std::string name;  // relative, normal, below the bundle's top folder
  std::string content;
};

// invalid_input when a bundle cannot have this name: it must end in .tar.zst after a plain name.
Status CheckBundlePath(const std::filesystem::path& path);

// Writes a tar archive, compressed with zstd, whose members lie below a folder named like the file
// without its extensions. Equal members make equal bytes: it contains no time, owner or order of
// the machine. The file appears completely or not at all. Errors: invalid_input (a name that does
// not end in .tar.zst, a member name that leaves the folder), io.
Status WriteBundle(const std::filesystem::path& path, const std::vector<BundleMember>& members);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_JUDGE_COMPARISON_BUNDLE_H_
