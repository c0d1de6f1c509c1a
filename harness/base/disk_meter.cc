// A depth-first walk that remembers where it stopped.
#include "harness/base/disk_meter.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <limits>
#include <string_view>

namespace rharness {

namespace {

std::string LinkAt(int folder, const char* name) {
  thread_local std::array<char, PATH_MAX> target;  // a pass asks for thousands
  const ssize_t size = ::readlinkat(folder, name, target.data(), target.size());
  return size < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(size));
}

}  // namespace

DiskMeter::DiskMeter(const std::filesystem::path& root)
    : root_(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      name_(LinkAt(AT_FDCWD, fmt::format("/proc/self/fd/{}", root_.get()).c_str())) {}

void DiskMeter::StartPass(bool with_processes) {
  current_bytes_ = 0;
  shared_.clear();
  pending_.emplace_back(".");
  if (!with_processes) return;
  // Before the folders: a file that loses its name in between is missed by this pass, not counted
  // twice.
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return;
  while (const dirent* entry = ::readdir(folder)) {
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') processes_.emplace_back(entry->d_name);
  }
  ::closedir(folder);
}

bool DiskMeter::Step(int entries) {
  if (!root_.valid()) return true;
  if (pending_.empty()) StartPass(/*with_processes=*/true);
  while (!processes_.empty() && entries > 0) {
    const std::string pid = std::move(processes_.back());
    processes_.pop_back();
    entries -= ScanProcess(pid);
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
  processes_.clear();
  Step(std::numeric_limits<int>::max());
  return last_bytes_;
}

std::uint64_t DiskMeter::MeasureNamed() {
  pending_.clear();
  processes_.clear();
  StartPass(/*with_processes=*/false);
  Step(std::numeric_limits<int>::max());
  return last_bytes_;
}

std::uint64_t DiskMeter::used_bytes() const { return std::max(last_bytes_, current_bytes_); }

int DiskMeter::ScanProcess(const std::string& pid) {
  constexpr std::string_view kUnlinked = " (deleted)";
  int seen = 1;
  for (const char* kind : {"fd", "map_files"}) {
    DIR* folder = ::opendir(fmt::format("/proc/{}/{}", pid, kind).c_str());
    if (folder == nullptr) continue;
    while (const dirent* entry = ::readdir(folder)) {
      ++seen;
      // The name first: nothing else is touched, such as a file on a server that does not answer.
      const std::string target = LinkAt(::dirfd(folder), entry->d_name);
      if (!target.ends_with(kUnlinked) || !target.starts_with(name_ + "/")) continue;
      struct stat info {};
      if (::fstatat(::dirfd(folder), entry->d_name, &info, 0) != 0) continue;
      if (!S_ISREG(info.st_mode) || info.st_nlink > 0) continue;
      if (!shared_.emplace(info.st_dev, info.st_ino).second) continue;
      current_bytes_ += static_cast<std::uint64_t>(info.st_blocks) * 512;
    }
    ::closedir(folder);
  }
  return seen;
}

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
