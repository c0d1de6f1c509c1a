// A depth-first walk that remembers where it stopped.
#include "harness/base/disk_meter.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <string_view>

namespace rharness {

DiskMeter::DiskMeter(const std::filesystem::path& root)
    : root_(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}

bool DiskMeter::Step(int entries) {
  if (!root_.valid()) return true;
  if (pending_.empty()) {
    current_bytes_ = 0;
    shared_.clear();
    pending_.emplace_back(".");
  }
  while (!pending_.empty() && entries > 0) {
    const std::string folder = std::move(pending_.back());
    pending_.pop_back();
    entries -= ScanFolder(folder);
  }
  if (!pending_.empty()) return false;
  last_bytes_ = current_bytes_;
  return true;
}

std::uint64_t DiskMeter::MeasureNow() {
  pending_.clear();
  Step(std::numeric_limits<int>::max());
  return last_bytes_;
}

std::uint64_t DiskMeter::used_bytes() const { return std::max(last_bytes_, current_bytes_); }

int DiskMeter::ScanFolder(const std::string& relative) {
  const int fd =
      ::openat(root_.get(), relative.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return 1;
  DIR* folder = ::fdopendir(fd);
  if (folder == nullptr) {
    ::close(fd);
    return 1;
  }
  int seen = 1;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    ++seen;
    struct stat info {};
    if (::fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISDIR(info.st_mode)) {
      pending_.push_back(relative + "/" + entry->d_name);
    } else if (info.st_nlink > 1 && !shared_.emplace(info.st_dev, info.st_ino).second) {
      continue;
    }
    current_bytes_ += static_cast<std::uint64_t>(info.st_blocks) * 512;
  }
  ::closedir(folder);
  return seen;
}

}  // namespace rharness
