// Looking at data where they lie.
#include "harness/execution/rerun/found_data.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <system_error>
#include <vector>

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
