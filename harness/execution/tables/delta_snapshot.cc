// The content of a version's files: its digest, and a table of its own with nothing else.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <span>
#include <system_error>
#include <vector>

#include "harness/base/digest.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"
#include "harness/execution/tables/delta_table.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kLog[] = "_delta_log";

void AddText(Sha256* sha, std::string_view text) {
  sha->UpdateU64(text.size());
  sha->Update(text);
}

Status CopyOpened(const HeldFolder& from, const fs::path& relative, const fs::path& to) {
  RETURN_IF_ERROR(MakeDirectories(to.parent_path()));
  ASSIGN_OR_RETURN(const OpenedFile file, from.OpenFile(relative));
  std::error_code error;
  fs::copy_file(fmt::format("/proc/self/fd/{}", file.descriptor.get()), to, error);
  if (error) return IoErrorFromErrno("cannot be written", error.value(), to.string());
  return {};
}

Status LinkTo(const fs::path& target, const fs::path& link) {
  RETURN_IF_ERROR(MakeDirectories(link.parent_path()));
  std::error_code error;
  fs::create_symlink(target, link, error);
  if (error) return IoErrorFromErrno("cannot be linked", error.value(), link.string());
  return {};
}

}  // namespace

Error DeltaTable::Gone(const DeltaVersion& version, const std::string& file,
                       const Error& error) const {
  if (error.code != ErrorCode::kNotFound) return error;
  return NotFound(
      fmt::format("version {} can no longer be read: its file '{}' is missing (vacuumed?)",
                  version.version, TerminalSafe(file)),
      path().string());
}

// In the order in which HashBy asks, some hundreds at a time on all cores. That none of them is a
// link, it has looked at before.
Result<SnapshotDigest> DeltaTable::Hash(const DeltaVersion& version) const {
  std::vector<fs::path> order;
  for (const DeltaFile& file : version.files) {
    order.push_back(path() / file.path);
    if (!file.deletions_path.empty()) order.push_back(path() / file.deletions_path);
  }
  constexpr std::size_t kBatch = 512;
  std::vector<Result<FileDigest>> batch;
  std::size_t begin = 0;
  std::size_t next = 0;
  return HashBy(version, [&](const fs::path&) -> Result<FileDigest> {
    if (next == begin + batch.size()) {
      begin = next;
      batch = HashFiles(std::span(order).subspan(begin, std::min(kBatch, order.size() - begin)));
    }
    return batch[next++ - begin];
  });
}

Result<SnapshotDigest> DeltaTable::HashBy(const DeltaVersion& version,
                                          const TableHasher& hasher) const {
  RETURN_IF_ERROR(CheckFiles(version));  // before hours of hashing
  Sha256 sha;
  AddText(&sha, "rharness.delta/v1");
  AddText(&sha, version.id);
  sha.UpdateU64(version.version);
  sha.UpdateU64(version.files.size());
  SnapshotDigest digest{.sha256 = {}, .size_bytes = 0, .files = version.files.size()};
  for (const DeltaFile& file : version.files) {
    const auto content = hasher(file.path);
    if (!content.ok()) return Gone(version, file.path, content.error());
    if (content->size_bytes != file.size_bytes) {
      return IntegrityError(fmt::format("changed while it was read: {} bytes, {} a moment ago",
                                        content->size_bytes, file.size_bytes),
                            (path() / file.path).string());
    }
    digest.size_bytes += file.size_bytes;
    AddText(&sha, file.path);
    sha.UpdateU64(file.size_bytes);
    AddText(&sha, file.deletions);
    AddText(&sha, content->sha256);
    if (file.deletions_path.empty()) continue;
    const auto deletions = hasher(file.deletions_path);
    if (!deletions.ok()) return Gone(version, file.deletions_path, deletions.error());
    AddText(&sha, deletions->sha256);
  }
  digest.sha256 = ToHex(sha.Finish());
  return digest;
}

Status DeltaTable::CheckFiles(const DeltaVersion& version) const {
  for (const DeltaFile& file : version.files) {
    const auto opened = folder_->OpenFile(file.path);
    if (!opened.ok()) return Gone(version, file.path, opened.error());
    if (opened->size_bytes != file.size_bytes) {
      return IntegrityError(fmt::format("has {} bytes; version {} of the table says {}",
                                        opened->size_bytes, version.version, file.size_bytes),
                            (path() / file.path).string());
    }
    if (file.deletions_path.empty()) continue;
    const auto deletions = folder_->OpenFile(file.deletions_path);
    if (!deletions.ok()) return Gone(version, file.deletions_path, deletions.error());
  }
  return {};
}

Status DeltaTable::WriteTo(const DeltaVersion& version, const fs::path& to, Files files) const {
  for (const std::string& name : version.log_files) {
    const fs::path relative = fs::path(kLog) / name;
    RETURN_IF_ERROR(CopyOpened(*folder_, relative, to / relative));
  }
  const auto place = [&](const std::string& file) -> Status {
    if (files == Files::kLinked) return LinkTo(path() / file, to / file);
    const Status copied = CopyOpened(*folder_, file, to / file);
    return copied.ok() ? copied : Status(Gone(version, file, copied.error()));
  };
  for (const DeltaFile& file : version.files) {
    RETURN_IF_ERROR(place(file.path));
    std::error_code error;
    const bool more = !file.deletions_path.empty();
    if (more && !fs::exists(fs::symlink_status(to / file.deletions_path, error))) {
      RETURN_IF_ERROR(place(file.deletions_path));
    }
  }
  return {};
}

}  // namespace rharness
