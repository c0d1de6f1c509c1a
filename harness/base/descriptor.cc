// Opens files for reading so that nothing odd at a path can make rharness wait.
#include "harness/base/descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "harness/base/trouble.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

Error NotRegular(const fs::path& path) {
  return InvalidInput("is no regular file; expected one", path.string());
}

Error OpenError(const fs::path& path, int error_number) {
  if (error_number == ENXIO) return NotRegular(path);  // open's error for a socket
  return PathError("cannot open", error_number, path);
}

}  // namespace

Result<OpenedFile> OpenRegularFile(const fs::path& path, bool follow_links) {
  const int link_flag = follow_links ? 0 : O_NOFOLLOW;
  OpenedFile file{Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | link_flag)),
                  0};
  if (!file.descriptor.valid()) {
    if (errno == ELOOP && !follow_links) {
      return InvalidInput("is a symbolic link; expected a file", path.string());
    }
    return OpenError(path, errno);
  }
  struct stat info {};
  if (::fstat(file.descriptor.get(), &info) != 0) {
    return IoErrorFromErrno("cannot stat", errno, path.string());
  }
  if (!S_ISREG(info.st_mode)) {
    return InvalidInput(
        S_ISDIR(info.st_mode) ? "is a folder; expected a file" : "is no regular file; expected one",
        path.string());
  }
  file.size_bytes = static_cast<std::uint64_t>(info.st_size);
  return file;
}

}  // namespace rharness
