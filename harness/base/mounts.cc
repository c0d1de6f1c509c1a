// Lines of /proc/self/mountinfo.
#include "harness/base/mounts.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <string_view>

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kMounts[] = "/proc/self/mountinfo";

// A "\040" is a blank.
std::string Unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size();
    const auto digit = [&](std::size_t at) { return text[i + at] - '0'; };
    plain += escape ? static_cast<char>(digit(1) * 64 + digit(2) * 8 + digit(3)) : text[i];
    if (escape) i += 3;
  }
  return plain;
}

}  // namespace

Result<std::vector<MountPoint>> ReadMounts() {
  std::ifstream lines(kMounts);
  if (!lines) return IoErrorFromErrno("cannot open", errno, kMounts);
  std::vector<MountPoint> mounts;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string id, parent, device, root, point;
    words >> id >> parent >> device >> root >> point;
    mounts.push_back({device, Unescaped(root), Unescaped(point)});
  }
  return mounts;
}

bool IsAtOrBelow(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

PlaceOnDevice FindOnDevice(const std::vector<MountPoint>& mounts, const fs::path& path) {
  // The last one hides earlier mounts there, or in a folder of it.
  const auto found = std::find_if(mounts.rbegin(), mounts.rend(), [&](const MountPoint& one) {
    return IsAtOrBelow(path, one.point);
  });
  if (found == mounts.rend()) return {"", path};
  const fs::path below = path.lexically_relative(found->point);
  return {found->device, below == "." ? found->root : found->root / below};
}

}  // namespace rharness
