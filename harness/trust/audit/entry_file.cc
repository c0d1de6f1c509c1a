// Reads of a log's lines and nodes at their places.
#include "harness/trust/audit/entry_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;  // stays in a cache between its uses

// Up to `bytes` at `offset` into `text`, fewer at the end of the file.
Status ReadFully(int fd, std::uint64_t offset, std::size_t bytes, const fs::path& path,
                 std::string* text) {
  text->resize(bytes);
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        ::pread(fd, text->data() + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return IoErrorFromErrno("cannot be read", errno, path.string());
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  text->resize(done);
  return {};
}

struct MaybeFile {
  Descriptor descriptor;
  std::uint64_t size_bytes = 0;
};

Result<MaybeFile> OpenIfThere(const fs::path& path) {
  auto file = OpenRegularFile(path, false);
  if (file.ok()) return MaybeFile{std::move(file->descriptor), file->size_bytes};
  if (file.error().code == ErrorCode::kNotFound) return MaybeFile{};
  return file.error();
}

}  // namespace

Result<EntryFile> EntryFile::Open(const fs::path& folder, std::uint64_t most_bytes) {
  EntryFile file;
  file.path_ = folder / kEntriesFile;
  ASSIGN_OR_RETURN(MaybeFile opened, OpenIfThere(file.path_));
  file.descriptor_ = std::move(opened.descriptor);
  const std::uint64_t size = std::min(opened.size_bytes, most_bytes);
  const std::uint64_t from = size - std::min<std::uint64_t>(size, 2 * kMostEntryBytes + 2);
  ASSIGN_OR_RETURN(const std::string tail,
                   file.ReadAt(from, static_cast<std::size_t>(size - from)));
  const auto last_break = tail.rfind('\n');
  if (last_break == tail.npos && from > 0) {
    return IntegrityError("its last line is longer than an entry can be", file.path_.string());
  }
  file.torn_ = last_break == tail.npos ? tail : tail.substr(last_break + 1);
  file.whole_bytes_ = size - file.torn_.size();
  if (last_break == tail.npos) return file;
  const auto before = last_break == 0 ? tail.npos : tail.rfind('\n', last_break - 1);
  const auto begin = before == tail.npos ? 0 : before + 1;
  const std::string line = tail.substr(begin, last_break - begin);
  ASSIGN_OR_RETURN(const AuditEntry last, ParseEntry(line, file.path_.string() + ": last line"));
  file.count_ = last.index + 1;
  return file;
}

std::string EntryFile::Where(std::uint64_t index) const {
  return fmt::format("{}:{}", path_.string(), index + 1);
}

Result<std::string> EntryFile::ReadAt(std::uint64_t offset, std::size_t bytes) const {
  std::string text;
  if (descriptor_.valid()) {
    RETURN_IF_ERROR(ReadFully(descriptor_.get(), offset, bytes, path_, &text));
  }
  return text;
}

Result<EntryFile::Line> EntryFile::LineFrom(std::uint64_t offset) const {
  Line line{.begin = offset, .text = {}};
  std::uint64_t from = offset;
  if (offset > 0) --from;  // the break before it
  ASSIGN_OR_RETURN(const std::string text, ReadAt(from, 2 * kMostEntryBytes + 2));
  std::size_t begin = 0;
  if (offset > 0) {
    const auto end_of_other = text.find('\n');
    if (end_of_other == text.npos) return IntegrityError("holds no entries here", path_.string());
    begin = end_of_other + 1;
  }
  const auto end = text.find('\n', begin);
  line.begin = from + begin;
  line.text = text.substr(begin, end == text.npos ? end : end - begin);
  return line;
}

Result<std::string> EntryFile::LineAt(std::uint64_t index) const {
  std::uint64_t low = 0;  // the line begins at or behind it
  std::uint64_t high = whole_bytes_;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    ASSIGN_OR_RETURN(Line line, LineFrom(middle));
    if (line.begin >= high) {
      high = middle;
      continue;
    }
    EntryParts parts;
    if (!ScanEntry(line.text, &parts)) {
      return IntegrityError("is no entry where one should be", path_.string());
    }
    if (parts.index == index) return std::move(line.text);
    if (parts.index < index) {
      low = line.begin + line.text.size() + 1;
    } else {
      high = middle;
    }
  }
  return IntegrityError(fmt::format("entry {} is not in its place", index), path_.string());
}

Status EntryFile::ReadAll(const Batch& batch) const {
  std::vector<char> block(kBlockBytes + kMostEntryBytes + 1);
  std::size_t held = 0;  // of the line that the last block started
  std::vector<std::string_view> lines;
  for (std::uint64_t offset = 0; offset < whole_bytes_;) {
    const auto bytes =
        static_cast<std::size_t>(std::min<std::uint64_t>(kBlockBytes, whole_bytes_ - offset));
    const ssize_t got =
        ::pread(descriptor_.get(), block.data() + held, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return IoErrorFromErrno("cannot be read", got < 0 ? errno : EIO, path_.string());
    offset += static_cast<std::uint64_t>(got);
    lines.clear();
    std::string_view rest(block.data(), held + static_cast<std::size_t>(got));
    for (auto end = rest.find('\n'); end != rest.npos; end = rest.find('\n')) {
      lines.push_back(rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    if (rest.size() > kMostEntryBytes) {
      return IntegrityError("holds a line that is longer than an entry can be", path_.string());
    }
    RETURN_IF_ERROR(batch(lines));
    held = rest.size();
    std::memmove(block.data(), rest.data(), held);
  }
  return {};
}

Result<NodeFile> NodeFile::Open(const fs::path& folder, std::uint64_t most_bytes) {
  NodeFile file;
  file.path_ = folder / kNodesFile;
  ASSIGN_OR_RETURN(MaybeFile opened, OpenIfThere(file.path_));
  file.descriptor_ = std::move(opened.descriptor);
  file.size_bytes_ = std::min(opened.size_bytes, most_bytes);
  return file;
}

Status NodeFile::Read(std::uint64_t offset, std::size_t bytes, std::string* hashes) const {
  if (!descriptor_.valid() || offset >= size_bytes_) {
    hashes->clear();
    return {};
  }
  const std::uint64_t there = std::min<std::uint64_t>(bytes, size_bytes_ - offset);
  return ReadFully(descriptor_.get(), offset, static_cast<std::size_t>(there), path_, hashes);
}

Result<TreeHash> NodeFile::Node(int level, std::uint64_t index) {
  TreeHash hash;
  const std::uint64_t offset = NodePlace(level, index) * kTreeHashBytes;
  const bool there = descriptor_.valid() && offset + kTreeHashBytes <= size_bytes_;
  const ssize_t got =
      there ? ::pread(descriptor_.get(), hash.data(), kTreeHashBytes, static_cast<off_t>(offset))
            : 0;
  if (got < 0) return IoErrorFromErrno("cannot be read", errno, path_.string());
  if (static_cast<std::size_t>(got) == kTreeHashBytes) return hash;
  return IntegrityError(fmt::format("ends before the hash over the {} entries from {} on",
                                    std::uint64_t{1} << level, index << level),
                        path_.string());
}

}  // namespace rharness
