// Lists folders through open descriptors, one per level.
#include "harness/base/source_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

struct ListedEntries {
  std::vector<std::pair<std::string, EntryKind>> files;
  std::vector<std::string> folders;
};

Result<ListedEntries> ListEntries(const HeldFolder& folder) {
  std::error_code error;
  ListedEntries listed;
  fs::directory_iterator at(folder.through(), error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    // What the listing itself says of a kind costs no look at each entry, as symlink_status would.
    std::error_code gone;  // entries that vanish meanwhile are missing
    if (at->is_symlink(gone)) {
      listed.files.emplace_back(name, EntryKind::kLink);
    } else if (at->is_directory(gone)) {
      if (!name.starts_with('.')) listed.folders.push_back(name);
    } else if (at->is_regular_file(gone)) {
      listed.files.emplace_back(name, EntryKind::kFile);
    } else if (at->exists(gone)) {
      listed.files.emplace_back(name, EntryKind::kOther);
    }
  }
  if (error) return IoError("cannot be listed: " + error.message(), folder.path().string());
  std::ranges::sort(listed.files);
  std::ranges::sort(listed.folders);
  return listed;
}

Result<bool> WalkFolder(const HeldFolder& folder, const std::string& prefix, int levels,
                        const SourceFolder::Visit& visit) {
  ASSIGN_OR_RETURN(const ListedEntries listed, ListEntries(folder));
  for (const auto& [name, kind] : listed.files) {
    ASSIGN_OR_RETURN(const bool on, visit(prefix + name, kind));
    if (!on) return false;
  }
  if (levels == 0) return true;
  for (const std::string& name : listed.folders) {
    const auto below = folder.OpenFolder(name);
    if (!below.ok() && below.error().code == ErrorCode::kNotFound) continue;
    if (!below.ok()) return below.error();
    ASSIGN_OR_RETURN(const bool on, WalkFolder(*below, prefix + name + "/", levels - 1, visit));
    if (!on) return false;
  }
  return true;
}

}  // namespace

Result<SourceFolder> SourceFolder::Open(const std::string& source) {
  std::error_code error;
  const fs::path path = fs::canonical(source, error);
  if (error) {
    const bool absent = error == std::errc::no_such_file_or_directory;
    return absent ? NotFound("there is no such file or folder", source)
                  : IoError("cannot be opened: " + error.message(), source);
  }
  if (fs::is_directory(path, error)) {
    ASSIGN_OR_RETURN(HeldFolder folder, HeldFolder::Open(path));
    return SourceFolder(std::move(folder), path, "");
  }
  if (!fs::is_regular_file(path, error)) return NoRegularFile(EntryKind::kOther, source);
  ASSIGN_OR_RETURN(HeldFolder folder, HeldFolder::Open(path.parent_path()));
  return SourceFolder(std::move(folder), path.parent_path(), path.filename().string());
}

Result<SourceFolder> SourceFolder::OpenBelow(const HeldFolder& folder, const fs::path& relative) {
  auto inside = folder.OpenFolder(relative);
  const fs::path path = (folder.path() / relative).lexically_normal();
  if (inside.ok()) return SourceFolder(std::move(*inside), path, "");
  // Not a folder; the file's own error is the better one.
  if (inside.error().code != ErrorCode::kNotFound) return inside.error();
  ASSIGN_OR_RETURN([[maybe_unused]] const OpenedFile file, folder.OpenFile(relative));
  ASSIGN_OR_RETURN(HeldFolder around, folder.OpenFolder(relative.parent_path()));
  return SourceFolder(std::move(around), path.parent_path(), relative.filename().string());
}

Status SourceFolder::ForEachFile(const Visit& visit) const {
  if (!file_.empty()) {
    ASSIGN_OR_RETURN([[maybe_unused]] const bool on, visit(file_, EntryKind::kFile));
    return {};
  }
  ASSIGN_OR_RETURN([[maybe_unused]] const bool on, WalkFolder(folder_, "", kMostLevels, visit));
  return {};
}

Result<std::string> SourceFolder::ReadHead(const std::string& relative, std::size_t most) const {
  ASSIGN_OR_RETURN(const OpenedFile file, folder_.OpenFile(relative));
  std::string head(most, '\0');
  std::size_t have = 0;
  while (have < most) {
    const ssize_t got = ::read(file.descriptor.get(), head.data() + have, most - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return IoErrorFromErrno("cannot be read", errno, (path_ / relative).string());
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  head.resize(have);
  return head;
}

Error NoRegularFile(EntryKind kind, std::string where) {
  return InvalidInput(
      fmt::format("is {}; expected a regular file",
                  kind == EntryKind::kLink ? "a symbolic link" : "a pipe, socket or device"),
      std::move(where));
}

std::string PlaceIn(const std::string& source, const SourceFolder& folder,
                    const std::string& relative) {
  return folder.file().empty() ? (fs::path(source) / relative).string() : source;
}

}  // namespace rharness
