// Files that get their names together; see file_batch.h.
#include "harness/base/file_batch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "harness/base/files.h"

namespace rharness {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostWaiting = 256;

fs::path FolderOf(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

bool WriteAll(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(fd, content.data(), content.size());
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) content.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

Status FileBatch::Add(const fs::path& path, std::string_view content) {
  const fs::path folder = FolderOf(path);
  RETURN_IF_ERROR(MakeDirectories(folder));
  Descriptor fd(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  if (!fd.valid()) return WriteFileAtomic(path, content);
  if (!WriteAll(fd.get(), content) || ::fchmod(fd.get(), 0644) != 0) {
    return IoErrorFromErrno("cannot write", errno, path.string());
  }
  waiting_.push_back({std::move(fd), path});
  return waiting_.size() < kMostWaiting ? Status() : Flush();
}

bool FileBatch::Holds(const fs::path& path) const {
  return std::ranges::any_of(waiting_, [&](const Waiting& one) { return one.path == path; });
}

Status FileBatch::Flush() {
  const std::vector<Waiting> files = std::exchange(waiting_, {});
  std::set<fs::path> folders;
  for (const Waiting& file : files) {
    if (!folders.insert(FolderOf(file.path)).second) continue;
    if (::syncfs(file.descriptor.get()) != 0) {
      return IoErrorFromErrno("cannot sync", errno, file.path.string());
    }
  }
  for (const Waiting& file : files) {
    const std::string unnamed = fmt::format("/proc/self/fd/{}", file.descriptor.get());
    if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, file.path.c_str(), AT_SYMLINK_FOLLOW) != 0) {
      return IoErrorFromErrno("cannot give the file its name", errno, file.path.string());
    }
  }
  for (const fs::path& folder : folders) RETURN_IF_ERROR(SyncFolder(folder));
  return {};
}

}  // namespace rharness
