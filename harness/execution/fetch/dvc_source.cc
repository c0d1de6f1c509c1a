// Objects of DVC's caches, file by file.
#include "harness/execution/fetch/dvc_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/descriptor.h"
#include "harness/base/files.h"
#include "harness/base/held_folder.h"
#include "harness/base/trouble.h"
#include "harness/records/intake/dvc_contents.h"
#include "harness/records/intake/dvc_files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct DvcObject {
  std::string md5;
  bool directory = false;
};

// "md5:2306...", "md5-dos2unix:4c9b....dir".
std::optional<DvcObject> ObjectOf(std::string_view digest) {
  const auto colon = digest.find(':');
  if (colon == digest.npos || !digest.starts_with("md5")) return std::nullopt;
  std::string_view md5 = digest.substr(colon + 1);
  DvcObject object;
  constexpr std::string_view kDirectory = ".dir";
  object.directory = md5.ends_with(kDirectory);
  if (object.directory) md5.remove_suffix(kDirectory.size());
  object.md5 = md5;
  const bool hex = md5.size() == 32 && md5.find_first_not_of("0123456789abcdef") == md5.npos;
  return hex ? std::optional(object) : std::nullopt;
}

std::vector<HeldFolder> OpenCaches(std::span<const fs::path> caches) {
  std::vector<HeldFolder> opened;
  for (const fs::path& path : caches) {
    auto cache = HeldFolder::Open(path);
    if (cache.ok()) opened.push_back(std::move(*cache));
  }
  return opened;
}

Result<OpenedFile> OpenObject(const std::vector<HeldFolder>& caches, const std::string& md5,
                              bool directory) {
  Error why = NotFound("is in no --dvc-cache", md5 + (directory ? ".dir" : ""));
  for (const HeldFolder& cache : caches) {
    for (const fs::path& name : DvcObjectPaths(md5, directory)) {
      auto file = cache.OpenFile(name);
      if (file.ok()) return file;
      if (file.error().code != ErrorCode::kNotFound) why = file.error();
    }
  }
  return why;
}

class DvcCopier {
 public:
  DvcCopier(std::vector<HeldFolder> caches, std::uint64_t most_bytes,
            const std::function<bool()>& should_cancel)
      : caches_(std::move(caches)), left_bytes_(most_bytes), should_cancel_(should_cancel) {}

  Status CopyFile(const std::string& md5, const fs::path& to) {
    ASSIGN_OR_RETURN(const OpenedFile from, OpenObject(caches_, md5, false));
    const Descriptor file(
        ::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.valid()) return PathError("cannot be written", errno, to);
    std::vector<char> block(std::size_t{1} << 20);
    for (;;) {
      if (should_cancel_ && should_cancel_()) return ProcessError("was interrupted");
      const ssize_t got = ::read(from.descriptor.get(), block.data(), block.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return IoErrorFromErrno("cannot be read", errno, md5);
      if (got == 0) return {};
      const auto bytes = static_cast<std::uint64_t>(got);
      if (bytes > left_bytes_) return IntegrityError("has more bytes than recorded", md5);
      left_bytes_ -= bytes;
      RETURN_IF_ERROR(Write(file.get(), std::string_view(block.data(), bytes), to));
    }
  }

  Status CopyDirectory(const std::string& md5, const fs::path& to) {
    ASSIGN_OR_RETURN(const std::string text, ReadListing(md5));
    ASSIGN_OR_RETURN(const std::vector<DvcListed> files, ParseDvcListing(text, md5 + ".dir"));
    RETURN_IF_ERROR(MakeDirectories(to));
    for (const DvcListed& one : files) {
      // Paths stay below: ParseDvcListing sees to it, and there are no links here.
      const fs::path path = to / one.path;
      RETURN_IF_ERROR(MakeDirectories(path.parent_path()));
      RETURN_IF_ERROR(CopyFile(one.md5, path));
    }
    return {};
  }

 private:
  Result<std::string> ReadListing(const std::string& md5) const {
    for (const HeldFolder& cache : caches_) {
      for (const fs::path& name : DvcObjectPaths(md5, true)) {
        auto text = cache.ReadFile(name, kMostDvcBytes);
        if (text.ok() || text.error().code != ErrorCode::kNotFound) return text;
      }
    }
    return NotFound("is in no --dvc-cache", md5 + ".dir");
  }

  static Status Write(int fd, std::string_view text, const fs::path& path) {
    while (!text.empty()) {
      const ssize_t wrote = ::write(fd, text.data(), text.size());
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) return PathError("cannot be written", errno, path);
      text.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return {};
  }

  std::vector<HeldFolder> caches_;
  std::uint64_t left_bytes_;
  const std::function<bool()>& should_cancel_;
};

}  // namespace

bool IsInDvcCache(std::span<const fs::path> caches, const DataItem& item) {
  const auto object = ObjectOf(item.other_digest);
  return object && OpenObject(OpenCaches(caches), object->md5, object->directory).ok();
}

Status CopyFromDvcCache(std::span<const fs::path> caches, const DataItem& item, const fs::path& to,
                        const std::function<bool()>& should_cancel) {
  const auto object = ObjectOf(item.other_digest);
  if (!object) return NotFound("has no MD5 of DVC's", item.name);
  DvcCopier copier(OpenCaches(caches), item.size_bytes, should_cancel);
  return object->directory ? copier.CopyDirectory(object->md5, to)
                           : copier.CopyFile(object->md5, to);
}

}  // namespace rharness
