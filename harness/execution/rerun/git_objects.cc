// Visits every folder that git would read objects from, and checks it against the declared places.
#include "harness/execution/rerun/git_objects.h"

#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "harness/base/borrowed_repository.h"
#include "harness/base/files.h"
#include "harness/base/trouble.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Folders of objects that this one borrows from. Source: gitrepository-layout(5).
Result<std::vector<fs::path>> Alternates(const fs::path& objects, const Places& places) {
  const fs::path list = objects / "info" / "alternates";
  std::vector<fs::path> folders;
  const auto text = ReadFile(list, std::uint64_t{1} << 20);
  if (!text.ok() && text.error().code == ErrorCode::kNotFound) return folders;
  if (!text.ok()) return text.error();
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with('"')) {
      return Unsupported("has a name in quotes; expected plain ones", list.string());
    }
    folders.push_back(objects / line);
    RETURN_IF_ERROR(RequireDeclared(places, folders.back(), list.string()));
  }
  return folders;
}

// The folders that links in `folder` lead to, and its own subfolders.
Result<std::vector<fs::path>> Below(const fs::path& folder, const Places& places) {
  std::vector<fs::path> folders;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_symlink(ignored)) {
      RETURN_IF_ERROR(RequireDeclared(places, entry->path(), entry->path().string()));
    }
    if (entry->is_directory(ignored)) folders.push_back(entry->path());
  }
  if (error) return PathError("cannot list", error.value(), folder);
  return folders;
}

Status HoldTo(const Places& places, const fs::path& objects) {
  RETURN_IF_ERROR(RequireDeclared(places, objects, objects.string()));
  std::set<fs::path> seen;
  std::vector<fs::path> due = {objects};
  while (!due.empty()) {
    const fs::path named = std::move(due.back());
    due.pop_back();
    std::error_code error;
    const fs::path folder = fs::canonical(named, error);
    if (error || !seen.insert(folder).second) continue;  // git finds nothing there either
    ASSIGN_OR_RETURN(const std::vector<fs::path> below, Below(folder, places));
    ASSIGN_OR_RETURN(const std::vector<fs::path> borrowed, Alternates(folder, places));
    due.insert(due.end(), below.begin(), below.end());
    due.insert(due.end(), borrowed.begin(), borrowed.end());
  }
  return {};
}

}  // namespace

Result<fs::path> ObjectsOf(const fs::path& repository, const Places& places) {
  ASSIGN_OR_RETURN(GitFolders folders, FindGitFolders(repository));
  RETURN_IF_ERROR(HoldTo(places, folders.objects));
  return std::move(folders.objects);
}

}  // namespace rharness
