// A table of names, and a look into a few folders.
#include "harness/records/manifest/lock_files.h"

#include <algorithm>
#include <system_error>

#include "harness/base/glob.h"
#include "harness/base/held_folder.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestBytes = std::uint64_t{16} << 20;
constexpr std::size_t kMostFiles = 64;

bool IsLockFile(const std::string& name) {
  return std::ranges::any_of(
      LockFileKinds(), [&](const LockFileKind& kind) { return GlobMatches(kind.pattern, name); });
}

std::vector<std::string> LockFilesIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (IsLockFile(name)) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

const std::vector<LockFileKind>& LockFileKinds() {
  static const std::vector<LockFileKind> kKinds = {
      {"requirements*.txt", "pip"},
      {"constraints*.txt", "pip"},
      {"pylock.toml", "PEP 751"},
      {"pylock.*.toml", "PEP 751"},
      {"poetry.lock", "Poetry"},
      {"uv.lock", "uv"},
      {"Pipfile.lock", "Pipenv"},
      {"pdm.lock", "PDM"},
      {"environment*.yml", "conda"},
      {"environment*.yaml", "conda"},
      {"conda-lock.yml", "conda-lock"},
      {"*.conda-lock.yml", "conda-lock"},
      {"conda-*.lock", "conda-lock"},
      {"pixi.lock", "pixi"},
      {"package-lock.json", "npm"},
      {"npm-shrinkwrap.json", "npm"},
      {"yarn.lock", "Yarn"},
      {"pnpm-lock.yaml", "pnpm"},
      {"Cargo.lock", "Cargo"},
      {"go.sum", "Go"},
      {"renv.lock", "renv"},
      {"Manifest.toml", "Julia"},
      {"flake.lock", "Nix"},
      {"guix.scm", "Guix"},
  };
  return kKinds;
}

std::map<std::string, std::string> FindLockFiles(const fs::path& base,
                                                 const std::string& working_directory) {
  std::map<std::string, std::string> found;
  const auto held = HeldFolder::Open(base);
  if (!held.ok()) return found;
  std::vector<fs::path> folders = {fs::path()};
  for (const fs::path& step : fs::path(working_directory)) folders.push_back(folders.back() / step);
  for (const fs::path& folder : folders) {
    for (const std::string& name : LockFilesIn(base / folder)) {
      const fs::path path = folder / name;
      const auto file = held->OpenFile(path);
      if (found.size() >= kMostFiles || !file.ok() || file->size_bytes > kLargestBytes) continue;
      const auto digest = held->HashFile(path);
      if (digest.ok()) found[path.string()] = digest->sha256;
    }
  }
  return found;
}

}  // namespace rharness
