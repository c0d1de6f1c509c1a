// Texts put aside; see text_spool.h.
#include "harness/base/text_spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace rharness {
namespace {

constexpr char kSpool[] = "the file for what is put aside";

Result<Descriptor> UnnamedFile() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) return IoErrorFromErrno("there is no folder for temporary files", error.value(), "");
  std::string path = (folder / ".rharness-XXXXXX").string();
  Descriptor file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file.valid()) return IoErrorFromErrno("cannot create a file", errno, folder.string());
  if (::unlink(path.c_str()) != 0) return IoErrorFromErrno("cannot remove", errno, path);
  return file;
}

}  // namespace

Status TextSpool::Append(std::string_view text) {
  rest_.append(text);
  ends_.push_back(written_ + rest_.size());
  return rest_.size() > most_in_memory_bytes_ ? WriteOut() : Status();
}

Status TextSpool::WriteOut() {
  if (!file_.valid()) {
    ASSIGN_OR_RETURN(file_, UnnamedFile());
  }
  std::string_view left = rest_;
  while (!left.empty()) {
    const ssize_t count = ::pwrite(file_.get(), left.data(), left.size(),
                                   static_cast<off_t>(written_ + rest_.size() - left.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return IoErrorFromErrno("cannot write", count < 0 ? errno : ENOSPC, kSpool);
    left.remove_prefix(static_cast<std::size_t>(count));
  }
  written_ += rest_.size();
  rest_.clear();
  return {};
}

Result<std::string> TextSpool::Read(std::size_t i) const {
  const std::uint64_t begin = i == 0 ? 0 : ends_[i - 1];
  const std::size_t size = static_cast<std::size_t>(ends_[i] - begin);
  if (begin >= written_) return rest_.substr(static_cast<std::size_t>(begin - written_), size);
  std::string text(size, '\0');
  for (std::size_t done = 0; done < size;) {
    const ssize_t count =
        ::pread(file_.get(), text.data() + done, size - done, static_cast<off_t>(begin + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return IoErrorFromErrno("cannot read", count < 0 ? errno : EIO, kSpool);
    done += static_cast<std::size_t>(count);
  }
  return text;
}

}  // namespace rharness
