// openat2, its replacement, and the calls that go through an open descriptor by /proc/self/fd.
#include "harness/base/held_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>

#include "harness/base/files.h"
#include "harness/base/trouble.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr long kOpenat2 = 437;  // SYS_openat2, which older headers lack

// Part by part: every folder on the way is a folder itself, and the last part is no link.
int OpenByParts(int root_fd, const fs::path& relative, int flags) {
  Descriptor folder(::fcntl(root_fd, F_DUPFD_CLOEXEC, 0));
  if (!folder.valid()) return -1;
  fs::path last;
  for (const fs::path& part : relative) {
    if (part == ".." || part == "/") return errno = EXDEV, -1;
    if (part.empty() || part == ".") continue;
    if (!last.empty()) {
      folder = Descriptor(
          ::openat(folder.get(), last.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!folder.valid()) return -1;
    }
    last = part;
  }
  return ::openat(folder.get(), last.empty() ? "." : last.c_str(), flags | O_NOFOLLOW | O_CLOEXEC);
}

// With O_PATH, or O_DIRECTORY, a link gives ENOTDIR; its type decides.
bool IsLink(int root_fd, const fs::path& relative) {
  fs::path so_far;
  for (const fs::path& part : relative) {
    so_far /= part;
    struct stat info {};
    if (::fstatat(root_fd, so_far.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return false;
    if (S_ISLNK(info.st_mode)) return true;
  }
  return false;
}

std::string PathOf(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

// The result of `read` for an open descriptor's path, with errors about `name`.
template <class F>
auto Through(int fd, const fs::path& name, F read) -> decltype(read(fs::path())) {
  const std::string path = PathOf(fd);
  auto result = read(fs::path(path));
  if (result.ok()) return result;
  Error error = result.error();
  for (std::string* text : {&error.where, &error.message}) {
    for (auto at = text->find(path); at != std::string::npos; at = text->find(path, at)) {
      text->replace(at, path.size(), name.string());
      at += name.string().size();
    }
  }
  return error;
}

}  // namespace

int OpenBelow(int root_fd, const fs::path& relative, int flags, ResolveBy by) {
  if (by == ResolveBy::kKernel) {
    struct open_how how {};
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC | O_NOFOLLOW);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    const char* name = relative.empty() ? "." : relative.c_str();
    // EAGAIN: something was renamed meanwhile, so that ".." could not be ruled out.
    for (int attempt = 0; attempt < 32; ++attempt) {
      const long fd = ::syscall(kOpenat2, root_fd, name, &how, sizeof(how));
      if (fd >= 0 || errno != EAGAIN) {
        if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return static_cast<int>(fd);
        break;  // an old kernel, or a sandbox that does not know the call
      }
    }
  }
  return OpenByParts(root_fd, relative, flags);
}

Result<HeldFolder> HeldFolder::Open(const fs::path& path) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid()) return HeldFolder(std::move(fd), path);
  if (errno == ENOENT) return NotFound("no such folder", path.string());
  return IoErrorFromErrno("cannot open folder", errno, path.string());
}

fs::path HeldFolder::through() const { return PathOf(fd()); }

bool HeldFolder::IsInPlace() const {
  struct stat held {};
  struct stat named {};
  return ::fstat(fd(), &held) == 0 && ::lstat(path_.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

Error HeldFolder::OpenError(const fs::path& relative, int error_number) const {
  const std::string where = (path_ / relative).string();
  if (error_number == EXDEV) {
    return IntegrityError("leads out of its folder; expected a name below it", where);
  }
  if (error_number == ELOOP || (error_number == ENOTDIR && IsLink(fd(), relative))) {
    return IntegrityError("is, or lies behind, a symbolic link; none is followed here", where);
  }
  if (error_number == ENOENT || error_number == ENOTDIR) return NotFound("no such file", where);
  if (error_number == ENXIO) return InvalidInput("is no regular file; expected one", where);
  return PathError("cannot open", error_number, path_ / relative);
}

Result<HeldFolder> HeldFolder::OpenFolder(const fs::path& relative) const {
  Descriptor opened(OpenBelow(fd(), relative, O_RDONLY | O_DIRECTORY));
  if (!opened.valid()) return OpenError(relative, errno);
  return HeldFolder(std::move(opened), relative.empty() ? path_ : path_ / relative);
}

Result<OpenedFile> HeldFolder::OpenFile(const fs::path& relative) const {
  OpenedFile file{Descriptor(OpenBelow(fd(), relative, O_RDONLY | O_NONBLOCK)), 0};
  if (!file.descriptor.valid()) return OpenError(relative, errno);
  struct stat info {};
  const std::string where = (path_ / relative).string();
  if (::fstat(file.descriptor.get(), &info) != 0) {
    return IoErrorFromErrno("cannot stat", errno, where);
  }
  if (!S_ISREG(info.st_mode)) {
    return InvalidInput(
        S_ISDIR(info.st_mode) ? "is a folder; expected a file" : "is no regular file; expected one",
        where);
  }
  file.size_bytes = static_cast<std::uint64_t>(info.st_size);
  return file;
}

Result<std::string> HeldFolder::ReadFile(const fs::path& relative,
                                         std::uint64_t limit_bytes) const {
  ASSIGN_OR_RETURN(const OpenedFile file, OpenFile(relative));
  return Through(file.descriptor.get(), path_ / relative,
                 [&](const fs::path& path) { return rharness::ReadFile(path, limit_bytes); });
}

Result<FileDigest> HeldFolder::HashFile(const fs::path& relative) const {
  ASSIGN_OR_RETURN(const OpenedFile file, OpenFile(relative));
  return Through(file.descriptor.get(), path_ / relative,
                 [](const fs::path& path) { return rharness::HashFile(path); });
}

Result<TreeDigest> HeldFolder::HashTree(const fs::path& relative) const {
  const Descriptor opened(OpenBelow(fd(), relative, O_RDONLY | O_NONBLOCK));
  if (!opened.valid()) return OpenError(relative, errno);
  return Through(opened.get(), path_ / relative,
                 [](const fs::path& path) { return rharness::HashTree(path); });
}

Status HeldFolder::WriteFile(const fs::path& relative, std::string_view content) const {
  ASSIGN_OR_RETURN(const HeldFolder parent, OpenFolder(relative.parent_path()));
  return Through(parent.fd(), parent.path(), [&](const fs::path& path) {
    return WriteFileAtomic(path / relative.filename(), content);
  });
}

Status RemoveTreeBelow(const fs::path& root, const fs::path& relative) {
  ASSIGN_OR_RETURN(const HeldFolder held, HeldFolder::Open(root));
  const auto parent = held.OpenFolder(relative.parent_path());
  if (!parent.ok() && parent.error().code == ErrorCode::kNotFound) return {};
  if (!parent.ok()) return parent.error();
  return Through(parent->fd(), parent->path(), [&](const fs::path& path) -> Status {
    return RemoveTree(path / relative.filename());
  });
}

}  // namespace rharness
