// Folders of result logs, in MLPerf's layout (SUBMITTER/results/SYSTEM/BENCHMARK/result_*.txt) or
// any other.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "compare/results/result_group.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxRuns = 1000;
constexpr std::size_t kMaxEntries = 100'000;
constexpr int kMaxDepth = 16;

// Numbers in their order: result_2 before result_10.
bool ByNumber(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

Result<std::vector<std::string>> ResultNames(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator at(folder, error);
  if (error) return NotFound("cannot list the folder: " + error.message(), folder.string());
  std::vector<std::string> names;
  for (; at != fs::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (IsResultLog(name)) names.push_back(name);
    if (names.size() > kMaxRuns) {
      return InvalidInput(fmt::format("more than {} result logs", kMaxRuns), folder.string());
    }
  }
  if (error) return IoError("cannot list the folder: " + error.message(), folder.string());
  if (names.empty()) return NotFound("no file result_*.txt", folder.string());
  std::sort(names.begin(), names.end(), ByNumber);
  return names;
}

// The name of the folder `levels` above; empty if there is none.
std::string NameAbove(fs::path folder, int levels) {
  for (int i = 0; i < levels; ++i) folder = folder.parent_path();
  return folder.filename().string();
}

}  // namespace

bool IsResultLog(std::string_view name) {
  return name.starts_with("result_") && name.ends_with(".txt");
}

bool HoldsResultLogs(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    if (IsResultLog(at->path().filename().string())) return true;
  }
  return false;
}

Result<ResultGroup> LoadResultGroup(const fs::path& folder) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ResultNames(folder));
  std::vector<MllogRun> runs;
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const fs::path path, ResolveBelow(folder, name));
    ASSIGN_OR_RETURN(MllogRun run, LoadMllog(path));
    runs.push_back(std::move(run));
  }
  const fs::path whole = fs::absolute(folder / "x").lexically_normal().parent_path();
  if (NameAbove(whole, 2) != "results") {
    return BuildResultGroup(NameAbove(whole, 0), std::move(runs));
  }
  const std::string submitter = NameAbove(whole, 3);
  ASSIGN_OR_RETURN(ResultGroup group,
                   BuildResultGroup(submitter + "/" + NameAbove(whole, 1), std::move(runs)));
  if (!submitter.empty()) group.submitter = submitter;
  return group;
}

Result<std::vector<ResultGroup>> LoadResultGroups(const fs::path& root) {
  std::error_code error;
  fs::recursive_directory_iterator at(root, error);
  if (error) return NotFound("cannot list the folder: " + error.message(), root.string());
  std::set<fs::path> folders;
  std::size_t entries = 0;
  for (; at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (++entries > kMaxEntries || at.depth() > kMaxDepth) {
      return InvalidInput(
          fmt::format("more than {} entries or {} levels of folders", kMaxEntries, kMaxDepth),
          root.string());
    }
    if (IsResultLog(at->path().filename().string())) folders.insert(at->path().parent_path());
  }
  if (error) return IoError("cannot list the folders: " + error.message(), root.string());
  if (folders.empty()) return NotFound("no file result_*.txt at or below", root.string());
  std::vector<ResultGroup> groups;
  for (const fs::path& folder : folders) {
    ASSIGN_OR_RETURN(ResultGroup group, LoadResultGroup(folder));
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace rharness
