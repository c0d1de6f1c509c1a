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

Result<InputFile> InputFile::Open(const std::filesystem::path& path,
                                  std::shared_ptr<DescriptorPool> pool,
                                  std::shared_ptr<const HeldFolder> below) {
  InputFile file(path.string());
  file.below_ = std::move(below);
  ASSIGN_OR_RETURN(Opened opened, file.OpenNow());
  file.identity_ = opened.identity;
  if (pool == nullptr) {
    file.held_ = std::move(opened.descriptor);
    return file;
  }
  file.key_ = pool->NewKey();
  pool->Put(file.key_, std::move(opened.descriptor));
  file.pool_ = std::move(pool);
  return file;
}

Result<InputFile::Opened> InputFile::OpenNow() const {
  if (below_ != nullptr) {
    ASSIGN_OR_RETURN(
        OpenedFile opened,
        below_->OpenFile(std::filesystem::path(name_).lexically_relative(below_->path())));
    ASSIGN_OR_RETURN(const Identity identity, IdentityOf(opened.descriptor));
    return Opened{std::make_shared<const Descriptor>(std::move(opened.descriptor)), identity};
  }
  Descriptor descriptor(::open(name_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor.valid()) {
    if (errno == ENOENT || errno == ENOTDIR) return NotFound("no such file", name_);
    return IoErrorFromErrno("cannot open", errno, name_);
  }
  ASSIGN_OR_RETURN(const Identity identity, IdentityOf(descriptor));
  return Opened{std::make_shared<const Descriptor>(std::move(descriptor)), identity};
}

Result<InputFile::Identity> InputFile::IdentityOf(const Descriptor& descriptor) const {
  struct stat info {};
  if (::fstat(descriptor.get(), &info) != 0) {
    return IoErrorFromErrno("cannot stat", errno, name_);
  }
  if (S_ISDIR(info.st_mode)) {
    return Unsupported("is a folder; expected one checkpoint file", name_);
  }
  if (!S_ISREG(info.st_mode)) {
    return InvalidInput("is no regular file; expected a checkpoint file", name_);
  }
  return Identity{info.st_dev, info.st_ino, static_cast<std::uint64_t>(info.st_size),
                  info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

Result<std::shared_ptr<const Descriptor>> InputFile::Acquire() const {
  if (held_ != nullptr) return held_;
  if (auto descriptor = pool_->Find(key_)) return descriptor;
  ASSIGN_OR_RETURN(Opened opened, OpenNow());
  // The header's content was read from the first file.
  if (opened.identity != identity_) {
    return IntegrityError("is not the file that it was when it was opened; expected files at rest",
                          name_);
  }
  pool_->Put(key_, opened.descriptor);
  return opened.descriptor;
}

Status InputFile::ReadAt(std::uint64_t offset, std::span<std::byte> out) const {
  ASSIGN_OR_RETURN(const std::shared_ptr<const Descriptor> descriptor, Acquire());
  while (!out.empty()) {
    const ssize_t count =
        ::pread(descriptor->get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    const auto where = [&] { return fmt::format("{}: byte {}", name_, offset); };
    if (count < 0) return IoErrorFromErrno("cannot read", errno, where());
    if (count == 0) {
      return IntegrityError(fmt::format("the file ends here; expected {} bytes, its size when it "
                                        "was opened",
                                        size_bytes()),
                            where());
    }
    offset += static_cast<std::uint64_t>(count);
    out = out.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Status InputFile::CheckUnchanged() const {
  ASSIGN_OR_RETURN(const std::shared_ptr<const Descriptor> descriptor, Acquire());
  ASSIGN_OR_RETURN(const Identity now, IdentityOf(*descriptor));
  if (now == identity_) return {};
  return IntegrityError("was changed while it was read; expected a file at rest", name_);
}

}  // namespace rharness
