// Reading with bounds, writing without halves, paths that stay where they belong.
#include "harness/base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "harness/base/descriptor.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

Status WriteAll(int fd, std::string_view content, const fs::path& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return IoErrorFromErrno("cannot write", errno, path.string());
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Status SyncFolder(const fs::path& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return IoErrorFromErrno("cannot open folder", errno, folder.string());
  if (::fsync(fd.get()) != 0 && errno != EINVAL) {
    return IoErrorFromErrno("cannot sync folder", errno, folder.string());
  }
  return {};
}

Status WriteTemporary(const std::string& temporary, int fd, std::string_view content) {
  RETURN_IF_ERROR(WriteAll(fd, content, temporary));
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
  constexpr std::size_t kBlock = 1 << 18;
  std::string content;
  // A block beyond the size, so that the read that finds the end does not move the content.
  content.reserve(static_cast<std::size_t>(file.size_bytes) + kBlock);
  for (;;) {
    const std::size_t old_size = content.size();
    if (old_size > limit_bytes) return too_large();
    content.resize(old_size + kBlock);
    const ssize_t count = ::read(file.descriptor.get(), content.data() + old_size, kBlock);
    if (count < 0 && errno != EINTR) return IoErrorFromErrno("cannot read", errno, path.string());
    content.resize(old_size + static_cast<std::size_t>(count < 0 ? 0 : count));
    if (count == 0) return content;
  }
}

Result<Json> ReadJsonFile(const fs::path& path, std::uint64_t limit_bytes) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, limit_bytes));
  return ParseJson(text, path.string());
}

Status WriteFileAtomic(const fs::path& path, std::string_view content) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  RETURN_IF_ERROR(MakeDirectories(folder));
  std::string temporary = (folder / fmt::format(".{}.XXXXXX", path.filename().string())).string();
  const Descriptor fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) return IoErrorFromErrno("cannot create a file", errno, folder.string());
  Status written = WriteTemporary(temporary, fd.get(), content);
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
  fs::remove_all(path, error);
  if (error) return IoError("cannot remove: " + error.message(), path.string());
  return {};
}

Result<fs::path> SafeRelativePath(std::string_view text, std::string_view where) {
  const auto refuse = [&](std::string_view reason) {
    return InvalidInput(fmt::format("path '{}' {}; expected a relative path that stays below its "
                                    "folder",
                                    TerminalSafe(text), reason),
                        std::string(where));
  };
  if (text.empty()) return refuse("is empty");
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return refuse("has a control character");
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
  if (error) return NotFound("cannot resolve: " + error.message(), root.string());
  const fs::path path = fs::canonical(real_root / relative, error);
  if (error == std::errc::no_such_file_or_directory) {
    return NotFound("no such file", (root / relative).string());
  }
  if (error) return IoError("cannot resolve: " + error.message(), (root / relative).string());
  const auto [root_end, unused] =
      std::mismatch(real_root.begin(), real_root.end(), path.begin(), path.end());
  if (root_end != real_root.end()) {
    return IntegrityError(fmt::format("leads out of its folder, to {}", path.string()),
                          (root / relative).string());
  }
  return path;
}

Result<ScopedTempDir> ScopedTempDir::Make(std::string_view prefix) {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  if (error) return IoError("no temporary folder: " + error.message());
  std::string pattern = (base / (std::string(prefix) + "XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    return IoErrorFromErrno("cannot create a temporary folder", errno, base.string());
  }
  return ScopedTempDir(fs::path(pattern));
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
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f) {
      safe += fmt::format("\\x{:02x}", byte);
    } else {
      safe.push_back(c);
    }
  }
  return safe;
}

}  // namespace rharness
