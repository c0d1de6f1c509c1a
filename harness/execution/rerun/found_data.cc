// Looking at data where they lie.
#include "harness/execution/rerun/found_data.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/trouble.h"
#include "harness/execution/rerun/table_data.h"
#include "harness/execution/rerun/workspace.h"

namespace rharness {

namespace fs = std::filesystem;

Result<TreeDigest> HashData(const fs::path& path, const DataItem& item) {
  if (!IsTable(item)) return HashTree(path);
  ContentCache cache;
  ASSIGN_OR_RETURN(ContentCache::Content content, HashTable(path, item, &cache));
  return TreeDigest{std::move(content.sha256), content.size_bytes, 0};
}

std::string NoteEmptyFolders(const std::vector<std::string>& found, DataItem* item) {
  item->empty_folders = RecordableFolders(found);
  if (item->empty_folders) return {};
  const std::string left_out =
      fmt::format("data '{}': its empty folders are not in the record", item->name);
  if (found.size() > kMostEmptyFolders) {
    return fmt::format("{}: there are {}; expected at most {}", left_out, found.size(),
                       kMostEmptyFolders);
  }
  const auto odd = std::ranges::find_if(
      found, [](const std::string& name) { return !SafeRelativePath(name, "").ok(); });
  return fmt::format(
      "{}: '{}' is no name that a record can hold (UTF-8, without control "
      "characters)",
      left_out, TerminalSafe(*odd));
}

Status LinkFiles(const fs::path& folder, const fs::path& view) {
  RETURN_IF_ERROR(MakeDirectories(view));
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path at = view / entry->path().lexically_relative(folder);
    if (entry->is_directory(error) && !error) {
      fs::create_directory(at, error);
    } else if (!error) {
      fs::create_symlink(entry->path(), at, error);
    }
    if (error) break;
  }
  if (error) return IoErrorFromErrno("cannot be linked", error.value(), folder.string());
  return {};
}

bool FileLinksStand(const fs::path& view, const fs::path& folder) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->is_directory(error)) continue;
    const fs::path at = view / entry->path().lexically_relative(folder);
    if (fs::read_symlink(at, error) != entry->path() || error) return false;
  }
  return !error;
}

Status RestoreEmptyFolders(const fs::path& copy, const EmptyFolders& recorded,
                           const std::vector<std::string>& found) {
  for (const std::string& name : found) {
    if (std::ranges::binary_search(*recorded, name)) continue;
    // Its parents go too if nothing is left in them: remove() spares what is not empty.
    std::error_code full;
    for (fs::path path = copy / name; path != copy && fs::remove(path, full) && !full;) {
      path = path.parent_path();
    }
  }
  for (const std::string& name : *recorded) {
    std::error_code error;
    const fs::file_status there = fs::symlink_status(copy / name, error);
    if (fs::exists(there) && !fs::is_directory(there)) {
      return InvalidInput(
          fmt::format("the record names '{}' as an empty folder, and it is a file", name));
    }
    RETURN_IF_ERROR(MakeDirectories(copy / name));
  }
  return {};
}

std::string IdentityOfData(const fs::path& path, const DataItem& item) {
  if (IsTable(item)) return TableIdentity(path, item);
  std::vector<std::string> lines;
  const auto add = [&lines](const fs::path& one) {
    struct stat info {};
    if (::lstat(one.c_str(), &info) == 0) lines.push_back(FileIdentity(one, info));
  };
  add(path);
  std::error_code error;
  if (fs::is_directory(path, error)) {
    for (fs::recursive_directory_iterator entry(path, error), end; entry != end && !error;
         entry.increment(error)) {
      add(entry->path());
    }
  }
  std::sort(lines.begin(), lines.end());
  return Sha256HexOf(fmt::format("{}", fmt::join(lines, "\n")));
}

Result<std::string> UnfitData(const fs::path& path, const DataItem& item) {
  if (IsTable(item)) return UnfitTable(path, item);
  std::error_code error;
  const fs::file_status type = fs::status(path, error);
  if (error) return PathError("cannot look at it", error.value(), path);
  if (fs::is_regular_file(type)) {
    const std::uintmax_t size = fs::file_size(path, error);
    if (error) return PathError("cannot look at it", error.value(), path);
    if (size == item.size_bytes) return std::string();
    return fmt::format("{} bytes, recorded {}", size, item.size_bytes);
  }
  if (!fs::is_directory(type)) return std::string("neither a file nor a folder");
  std::uintmax_t total = 0;
  fs::recursive_directory_iterator entry(path, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const fs::file_status status = entry->symlink_status(error);
    if (!error && fs::is_regular_file(status)) total += entry->file_size(error);
    if (error) break;
    if (!fs::is_regular_file(status) && !fs::is_directory(status)) {
      return fmt::format("'{}' is neither a file nor a folder", entry->path().string());
    }
    if (total > item.size_bytes)
      return fmt::format("more than the recorded {} bytes", item.size_bytes);
  }
  if (error) return PathError("cannot look into it", error.value(), path);
  return std::string();
}

}  // namespace rharness
