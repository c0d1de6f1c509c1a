// Pairing paths by name.
#include "harness/comparison/pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFiles = 1'000'000;

// Regular files below `folder`, by their path below it. Links to folders are not followed.
Result<std::set<fs::path>> FilesBelow(const fs::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found) {
    return NotFound("no such folder", folder.string());
  }
  if (!fs::is_directory(status)) return InvalidInput("expected a folder", folder.string());
  std::set<fs::path> files;
  fs::recursive_directory_iterator it(folder, error), end;
  for (; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (!it->is_regular_file(ignored)) continue;
    if (files.size() == kMaxFiles) {
      return InvalidInput(fmt::format("holds more than {} files", kMaxFiles), folder.string());
    }
    files.insert(it->path().lexically_relative(folder));
  }
  if (error) return IoError(error.message(), folder.string());
  return files;
}

}  // namespace

Result<PathPairs> FindPairs(const fs::path& folder) {
  ASSIGN_OR_RETURN(const std::set<fs::path> files, FilesBelow(folder));
  struct Sides {
    std::vector<fs::path> before, after;
  };
  std::map<fs::path, Sides> by_folder;
  for (const fs::path& file : files) {
    if (file.stem() == "before") by_folder[file.parent_path()].before.push_back(file);
    if (file.stem() == "after") by_folder[file.parent_path()].after.push_back(file);
  }
  if (by_folder.empty()) {
    return InvalidInput("no folder in it holds before.* and after.*", folder.string());
  }
  PathPairs pairs;
  for (const auto& [name, sides] : by_folder) {
    if (sides.before.size() > 1 || sides.after.size() > 1) {
      return InvalidInput("holds more than one before.* or after.*; expected one of each",
                          (folder / name).string());
    }
    if (sides.before.empty() || sides.after.empty()) {
      pairs.unpaired.push_back(fmt::format("{}: holds no {}.*", TerminalSafe(name.string()),
                                           sides.before.empty() ? "before" : "after"));
      continue;
    }
    pairs.pairs.push_back(
        {name.string(), folder / sides.before.front(), folder / sides.after.front()});
  }
  if (pairs.pairs.empty()) {
    return InvalidInput("no folder in it holds both before.* and after.*", folder.string());
  }
  return pairs;
}

Result<PathPairs> PairFolders(const fs::path& a, const fs::path& b) {
  ASSIGN_OR_RETURN(const std::set<fs::path> files_a, FilesBelow(a));
  ASSIGN_OR_RETURN(const std::set<fs::path> files_b, FilesBelow(b));
  PathPairs pairs;
  for (const fs::path& name : files_a) {
    if (files_b.contains(name)) {
      pairs.pairs.push_back({name.string(), a / name, b / name});
    } else {
      pairs.unpaired.push_back("only in A: " + TerminalSafe(name.string()));
    }
  }
  for (const fs::path& name : files_b) {
    if (!files_a.contains(name)) {
      pairs.unpaired.push_back("only in B: " + TerminalSafe(name.string()));
    }
  }
  if (pairs.pairs.empty()) {
    return InvalidInput(fmt::format("no file of it has its name in {} too ({} and {} files)",
                                    b.string(), files_a.size(), files_b.size()),
                        a.string());
  }
  return pairs;
}

}  // namespace rharness
