// Bounded reads, atomic writes, paths that stay in their folder.
#include "harness/base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/base/descriptor.h"
#include "harness/base/file_pieces.h"
#include "harness/base/mounts.h"
#include "harness/base/trouble.h"
#include "harness/base/utf8.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// A byte that is not UTF-8, control characters of both sets, line separators, and characters that
// reorder the text around them.
bool IsUnsafe(const std::optional<Utf8Character>& character) {
  if (!character) return true;
  const auto within = [code = character->code](char32_t first, char32_t last) {
    return first <= code && code <= last;
  };
  return within(0, 0x1f) || within(0x7f, 0x9f) || within(0x061c, 0x061c) ||
         within(0x200e, 0x200f) || within(0x2028, 0x202e) || within(0x2066, 0x2069);
}

Status WriteAll(int fd, std::string_view content, const fs::path& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return IoErrorFromErrno("cannot write", errno, path.string());
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

// Refuses special files that a rename would replace: devices, pipes, sockets, and links to them.
Status RefuseSpecialFile(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status) || fs::is_regular_file(status) || fs::is_directory(status)) return {};
  return InvalidInput("is no regular file; expected a file or a name that is free", path.string());
}

// Lets the owner list and empty the folders of a tree. Links are not followed.
void UnlockFolders(const fs::path& path) {
  const Descriptor fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return;
  const fs::path held = fmt::format("/proc/self/fd/{}", fd.get());
  ::chmod(held.c_str(), 0700);
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(held, error)) {
    UnlockFolders(entry.path());
  }
}

// Unmounts everything on this folder or below it, the last first.
Status UnmountBelow(const fs::path& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error) return PathError("cannot resolve", error.value(), folder);
  std::vector<std::string> mounted;
  ASSIGN_OR_RETURN(const std::vector<MountPoint> mounts, ReadMounts());
  for (const MountPoint& one : mounts) {
    if (IsAtOrBelow(one.point, real)) mounted.push_back(one.point.string());
  }
  while (!mounted.empty()) {
    if (::umount2(mounted.back().c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) != 0) {
      return IoErrorFromErrno("cannot unmount", errno, mounted.back());
    }
    mounted.pop_back();
  }
  return {};
}

Status WriteTemporary(const std::string& temporary, int fd,
                      const std::function<Status(const TakePiece&)>& write) {
  constexpr std::size_t kBlock = 1 << 20;
  std::string waiting;
  const auto take = [&](std::string_view piece) -> Status {
    waiting += piece;
    if (waiting.size() < kBlock) return {};
    RETURN_IF_ERROR(WriteAll(fd, waiting, temporary));
    waiting.clear();
    return {};
  };
  RETURN_IF_ERROR(write(take));
  RETURN_IF_ERROR(WriteAll(fd, waiting, temporary));
  if (::fchmod(fd, 0644) != 0) return IoErrorFromErrno("cannot set mode", errno, temporary);
  if (::fsync(fd) != 0) return IoErrorFromErrno("cannot sync", errno, temporary);
  return {};
}

}  // namespace

Result<std::string> ReadFile(const fs::path& path, std::uint64_t limit_bytes) {
  ASSIGN_OR_RETURN(const OpenedFile file, OpenRegularFile(path));
  const auto too_large = [&] {
    return InvalidInput(fmt::format("is larger than the limit of {} bytes", limit_bytes),
                        path.string());
  };
  if (file.size_bytes > limit_bytes) return too_large();
  // Room beyond the size, so that the read that finds the end does not move the content.
  constexpr std::size_t kLeast = 1 << 12, kMost = 1 << 18;
  const auto size = static_cast<std::size_t>(file.size_bytes);
  std::string content;
  content.reserve(size + kLeast);
  for (;;) {
    const std::size_t old_size = content.size();
    if (old_size > limit_bytes) return too_large();
    const std::size_t block = old_size <= size ? std::clamp(size - old_size, kLeast, kMost) : kMost;
    content.resize(old_size + block);
    const ssize_t count = ::read(file.descriptor.get(), content.data() + old_size, block);
    if (count < 0 && errno != EINTR) return IoErrorFromErrno("cannot read", errno, path.string());
    content.resize(old_size + static_cast<std::size_t>(count < 0 ? 0 : count));
    if (count == 0) return content;
  }
}

Result<Json> ReadJsonFile(const fs::path& path, std::uint64_t limit_bytes) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, limit_bytes));
  return ParseJson(text, path.string());
}

Status SyncFolder(const fs::path& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return IoErrorFromErrno("cannot open folder", errno, folder.string());
  if (::fsync(fd.get()) != 0 && errno != EINVAL) {
    return IoErrorFromErrno("cannot sync folder", errno, folder.string());
  }
  return {};
}

void Refresh(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();) {
    entry.increment(error);
  }
}

bool IsThere(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

Status WriteFileAtomic(const fs::path& path, std::string_view content) {
  return WriteFileAtomic(path, [content](const TakePiece& take) { return take(content); });
}

Status WriteFileAtomic(const fs::path& path, const std::function<Status(const TakePiece&)>& write) {
  RETURN_IF_ERROR(RefuseSpecialFile(path));
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  RETURN_IF_ERROR(MakeDirectories(folder));
  // Not named after the file: that name may be as long as the file system allows already.
  std::string temporary = (folder / ".rharness-XXXXXX").string();
  const Descriptor fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) return IoErrorFromErrno("cannot create a file", errno, folder.string());
  Status written = WriteTemporary(temporary, fd.get(), write);
  if (written.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    written = IoErrorFromErrno("cannot rename into place", errno, path.string());
  }
  if (!written.ok()) {
    ::unlink(temporary.c_str());
    return written;
  }
  return SyncFolder(folder);
}

Status WriteJsonFile(const fs::path& path, const Json& json) {
  return WriteFileAtomic(path, json.Dump(2) + "\n");
}

Status MakeDirectories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return IoError("cannot create folder: " + error.message(), path.string());
  return {};
}

Status RemoveTree(const fs::path& path) {
  std::error_code error;
  if (fs::symlink_status(path, error).type() == fs::file_type::directory) {
    RETURN_IF_ERROR(UnmountBelow(path));
  }
  fs::remove_all(path, error);
  if (error == std::errc::permission_denied) {
    UnlockFolders(path);
    fs::remove_all(path, error);
  }
  if (error) return IoError("cannot remove: " + error.message(), path.string());
  return {};
}

Status MakeDirectoriesBelow(const fs::path& root, const fs::path& relative) {
  fs::path path = root;
  for (const fs::path& part : relative) {
    if (part.empty() || part == ".") continue;
    path /= part;
    if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
      return IoErrorFromErrno("cannot create folder", errno, path.string());
    }
    std::error_code error;
    if (fs::symlink_status(path, error).type() != fs::file_type::directory) {
      return IntegrityError("is no folder; expected one, and no link to one", path.string());
    }
  }
  return {};
}

// Nearly every path: printable ASCII, relative, below its folder and in normal form already.
static bool IsPlainRelativePath(std::string_view text) {
  if (!std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; })) return false;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

Result<fs::path> SafeRelativePath(std::string_view text, std::string_view where) {
  const auto refuse = [&](std::string_view reason) {
    return InvalidInput(fmt::format("path '{}' {}; expected a relative path that stays below its "
                                    "folder",
                                    TerminalSafe(text), reason),
                        std::string(where));
  };
  if (IsPlainRelativePath(text)) return fs::path(text);
  if (text.empty()) return refuse("is empty");
  for (std::string_view rest = text; !rest.empty();) {
    const auto character = FirstUtf8(rest);
    if (IsUnsafe(character)) return refuse("has a control character or is not UTF-8");
    rest.remove_prefix(character->bytes);
  }
  const fs::path path(text);
  if (path.is_absolute()) return refuse("is absolute");
  for (const fs::path& part : path) {
    if (part == "..") return refuse("contains '..'");
  }
  fs::path normal = path.lexically_normal();
  if (!normal.has_filename()) normal = normal.parent_path();
  if (normal.empty() || normal == ".") return refuse("names the folder itself");
  return normal;
}

Result<fs::path> ResolveBelow(const fs::path& root, const fs::path& relative) {
  std::error_code error;
  const fs::path real_root = fs::canonical(root, error);
  if (error == std::errc::no_such_file_or_directory) {
    return NotFound("no such folder", root.string());
  }
  if (error) return PathError("cannot resolve", error.value(), root);
  const fs::path path = fs::canonical(real_root / relative, error);
  if (error == std::errc::no_such_file_or_directory) {
    return NotFound("no such file", (root / relative).string());
  }
  if (error) return PathError("cannot resolve", error.value(), root / relative);
  const auto [root_end, unused] =
      std::mismatch(real_root.begin(), real_root.end(), path.begin(), path.end());
  if (root_end != real_root.end()) {
    return IntegrityError(fmt::format("leads out of its folder, to {}", path.string()),
                          (root / relative).string());
  }
  return path;
}

Result<ScopedTempDir> ScopedTempDir::Make(std::string_view prefix, const fs::path& folder) {
  std::error_code error;
  const fs::path base = folder.empty() ? fs::temp_directory_path(error) : folder;
  if (error) return IoError("no temporary folder: " + error.message());
  std::string pattern = (base / (std::string(prefix) + "XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    return IoErrorFromErrno("cannot create a temporary folder", errno, base.string());
  }
  return ScopedTempDir(fs::path(pattern));
}

Result<ScopedTempDir> ScopedTempDir::At(const fs::path& path) {
  if (::mkdir(path.c_str(), 0700) != 0) {
    return IoErrorFromErrno("cannot create a temporary folder", errno, path.string());
  }
  return ScopedTempDir(path);
}

ScopedTempDir::ScopedTempDir(ScopedTempDir&& other) noexcept
    : path_(std::exchange(other.path_, fs::path())) {}

ScopedTempDir& ScopedTempDir::operator=(ScopedTempDir&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

ScopedTempDir::~ScopedTempDir() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TerminalSafe(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  while (!text.empty()) {
    const auto character = FirstUtf8(text);
    const std::string_view bytes = text.substr(0, character ? character->bytes : 1);
    const bool layout = bytes == "\n" || bytes == "\t";
    if (layout || !IsUnsafe(character)) {
      safe += bytes;
    } else {
      for (const char c : bytes) safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    text.remove_prefix(bytes.size());
  }
  return safe;
}

}  // namespace rharness
