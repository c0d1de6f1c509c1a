// Positioned reads that notice when the file shrinks or changes.
#include "compare/weights/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace rharness {

Result<InputFile> InputFile::Open(const std::filesystem::path& path) {
  InputFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK), path.string());
  if (file.fd_ < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return NotFound("no such file", path.string());
    return IoErrorFromErrno("cannot open", errno, path.string());
  }
  struct stat info {};
  if (::fstat(file.fd_, &info) != 0) return IoErrorFromErrno("cannot stat", errno, path.string());
  if (S_ISDIR(info.st_mode)) {
    return Unsupported("is a folder; expected one checkpoint file", path.string());
  }
  if (!S_ISREG(info.st_mode)) {
    return InvalidInput("is no regular file; expected a checkpoint file", path.string());
  }
  file.size_bytes_ = static_cast<std::uint64_t>(info.st_size);
  file.modified_seconds_ = info.st_mtim.tv_sec;
  file.modified_nanoseconds_ = info.st_mtim.tv_nsec;
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      name_(std::move(other.name_)),
      size_bytes_(other.size_bytes_),
      modified_seconds_(other.modified_seconds_),
      modified_nanoseconds_(other.modified_nanoseconds_) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(name_, other.name_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(modified_seconds_, other.modified_seconds_);
  std::swap(modified_nanoseconds_, other.modified_nanoseconds_);
  return *this;
}

InputFile::~InputFile() {
  if (fd_ >= 0) ::close(fd_);
}

Status InputFile::ReadAt(std::uint64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t count = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    const auto where = [&] { return fmt::format("{}: byte {}", name_, offset); };
    if (count < 0) return IoErrorFromErrno("cannot read", errno, where());
    if (count == 0) {
      return IntegrityError(fmt::format("the file ends here; expected {} bytes, its size when it "
                                        "was opened",
                                        size_bytes_),
                            where());
    }
    offset += static_cast<std::uint64_t>(count);
    out = out.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Status InputFile::CheckUnchanged() const {
  struct stat info {};
  if (::fstat(fd_, &info) != 0) return IoErrorFromErrno("cannot stat", errno, name_);
  if (static_cast<std::uint64_t>(info.st_size) == size_bytes_ &&
      info.st_mtim.tv_sec == modified_seconds_ && info.st_mtim.tv_nsec == modified_nanoseconds_) {
    return {};
  }
  return IntegrityError("was changed while it was read; expected a file at rest", name_);
}

}  // namespace rharness
