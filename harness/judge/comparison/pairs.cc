// Pairing paths by name.
#include "harness/judge/comparison/pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compare/results/result_group.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFiles = 1'000'000;

bool IsSide(const fs::path& path) { return path.stem() == "before" || path.stem() == "after"; }

// Whether it is a dangling link, or one to a folder outside of `folder`.
bool IsDeadEnd(const fs::directory_entry& entry, const fs::path& folder) {
  std::error_code error;
  if (!entry.is_symlink(error)) return false;
  const fs::path target = fs::canonical(entry.path(), error);
  if (error) return true;
  if (!fs::is_directory(target, error)) return false;
  const fs::path home = fs::canonical(folder, error);
  return std::mismatch(home.begin(), home.end(), target.begin(), target.end()).first != home.end();
}

// Regular files below `folder`, by their path below it. Links to folders are not followed; one that
// is a dead end counts as a file, which cannot be read.
// `sides`: a folder called before.* or after.* counts as one thing.
Result<std::set<fs::path>> FilesBelow(const fs::path& folder, bool sides = false) {
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
    const bool whole = sides && it->is_directory(ignored) && IsSide(it->path());
    if (whole) it.disable_recursion_pending();
    if (!whole && !it->is_regular_file(ignored) && !IsDeadEnd(*it, folder)) continue;
    if (files.size() == kMaxFiles) {
      return InvalidInput(fmt::format("holds more than {} files", kMaxFiles), folder.string());
    }
    files.insert(it->path().lexically_relative(folder));
  }
  if (error) return IoError(error.message(), folder.string());
  return files;
}

// The comparable items of a folder: for a drill the evidence alone, for MLPerf results the folder
// around them, else every file.
std::set<fs::path> ItemsOf(const fs::path& folder, const std::set<fs::path>& files) {
  std::error_code error;
  const bool drill = fs::is_regular_file(folder / "report.json", error) &&
                     fs::is_directory(folder / "runs", error);
  std::set<fs::path> items;
  for (const fs::path& file : files) {
    const std::string name = file.filename().string();
    if (drill && name != "evidence.json") continue;
    items.insert(IsResultLog(name) && file.has_parent_path() ? file.parent_path() : file);
  }
  return items;
}

}  // namespace

Result<PathPairs> FindPairs(const fs::path& folder) {
  ASSIGN_OR_RETURN(const std::set<fs::path> files, FilesBelow(folder, true));
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
      pairs.unpaired.emplace_back(
          name.string(), fmt::format("holds no {}.*", sides.before.empty() ? "before" : "after"));
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

Result<std::set<fs::path>> RecordFilesBelow(const fs::path& folder) {
  ASSIGN_OR_RETURN(const std::set<fs::path> files, FilesBelow(folder));
  return ItemsOf(folder, files);
}

Result<PathPairs> PairFolders(const fs::path& a, const fs::path& b) {
  ASSIGN_OR_RETURN(const std::set<fs::path> files_a, RecordFilesBelow(a));
  ASSIGN_OR_RETURN(const std::set<fs::path> files_b, RecordFilesBelow(b));
  PathPairs pairs;
  for (const fs::path& name : files_a) {
    if (files_b.contains(name)) {
      pairs.pairs.push_back({name.string(), a / name, b / name});
    } else {
      pairs.unpaired.emplace_back(name.string(), "is in A alone");
    }
  }
  for (const fs::path& name : files_b) {
    if (!files_a.contains(name)) {
      pairs.unpaired.emplace_back(name.string(), "is in B alone");
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
