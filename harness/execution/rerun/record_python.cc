// Variables, *.pth files and one question to the interpreter.
#include "harness/execution/rerun/record_python.h"

#include <algorithm>
#include <mutex>
#include <string_view>
#include <system_error>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/packages.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostOfAPathFile = std::uint64_t{1} << 20;

fs::path WithoutLinks(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  return error ? path.lexically_normal() : real;
}

std::string ValueOf(const std::map<std::string, std::string>& variables, const char* name) {
  const auto found = variables.find(name);
  return found == variables.end() ? "" : found->second;
}

// The parts of a list between colons; an empty one is the current folder.
std::vector<std::string> PartsOf(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(':'));
    list.remove_prefix(std::min(list.size(), part.size() + 1));
    parts.emplace_back(part);
  }
  return parts;
}

// The recorded form: relative if it is part of the code.
std::string InRecord(const fs::path& folder, const fs::path& base) {
  const fs::path real = WithoutLinks(folder);
  const fs::path below = real.lexically_relative(base);
  if (below.empty() || *below.begin() == "..") return real.string();
  return below.string();
}

void AddOnce(std::string folder, std::vector<std::string>* out) {
  if (!folder.empty() && std::ranges::find(*out, folder) == out->end()) {
    out->push_back(std::move(folder));
  }
}

bool IsActivated(const std::map<std::string, std::string>& variables,
                 const PythonEnvironment& python) {
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string named = ValueOf(variables, name);
    if (!named.empty() && WithoutLinks(named) == python.prefix) return true;
  }
  if (!IsIsolated(python.kind)) return false;
  const std::vector<std::string> path = PartsOf(ValueOf(variables, "PATH"));
  return std::ranges::any_of(path, [&](const std::string& folder) {
    return !folder.empty() && WithoutLinks(fs::path(folder).parent_path()) == python.prefix &&
           fs::path(folder).filename() == "bin";
  });
}

// The paths below `base` that a file names, each up to the end of its line or its quote.
std::vector<fs::path> PathsNamedIn(const std::string& text, const std::string& base) {
  std::vector<fs::path> paths;
  for (auto at = text.find(base); at != text.npos; at = text.find(base, at + 1)) {
    const std::string path = text.substr(at, text.find_first_of("'\"\r\n", at) - at);
    if (path.size() == base.size() || path[base.size()] == '/') paths.emplace_back(path);
  }
  return paths;
}

}  // namespace

std::string PythonVersion(const fs::path& interpreter) {
  static std::mutex mutex;
  static std::map<fs::path, std::string> known;
  const std::lock_guard lock(mutex);
  const auto [version, is_new] = known.try_emplace(interpreter);
  if (!is_new) return version->second;
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(10);
  const ProcessResult result =
      RunProcess({.argv = {interpreter.string(), "--version"}, .environment = {}}, limits);
  constexpr std::string_view kName = "Python ";
  const std::string& text = result.stdout_text;
  if (!result.outcome.Succeeded() || !text.starts_with(kName)) return "";
  version->second =
      text.substr(kName.size(), text.find_first_of(" \n", kName.size()) - kName.size());
  return version->second;
}

std::vector<std::string> EditableFolders(const fs::path& prefix, const fs::path& base) {
  std::vector<std::string> folders;
  for (const fs::path& packages : PackageFoldersBelow(prefix)) {
    std::error_code error;
    std::vector<fs::path> files;
    for (fs::directory_iterator it(packages, error), end; !error && it != end;
         it.increment(error)) {
      const std::string name = it->path().filename().string();
      const bool is_finder = name.starts_with("__editable__") && name.ends_with("_finder.py");
      if (name.ends_with(".pth") || is_finder) files.push_back(it->path());
    }
    std::ranges::sort(files);
    for (const fs::path& file : files) {
      const auto text = ReadFile(file, kMostOfAPathFile);
      if (!text.ok()) continue;
      const bool is_finder = file.extension() == ".py";
      for (const fs::path& path : PathsNamedIn(*text, base.string())) {
        // A finder maps a package, or a module, to its own folder or file.
        const fs::path folder = is_finder ? path.parent_path() : path;
        if (!fs::is_directory(folder, error) || WithoutLinks(folder) == prefix) continue;
        const std::string below = InRecord(folder, base);
        if (!fs::path(below).is_absolute()) AddOnce(below, &folders);
      }
    }
  }
  return folders;
}

void CompletePython(const std::map<std::string, std::string>& variables, const fs::path& folder,
                    const fs::path& base, PythonEnvironment* python) {
  python->activated = IsActivated(variables, *python);
  for (const std::string& part : PartsOf(ValueOf(variables, "PYTHONPATH"))) {
    AddOnce(InRecord(folder / part, base), &python->search_path);
  }
  for (std::string& below : EditableFolders(python->prefix, base)) {
    AddOnce(std::move(below), &python->search_path);
  }
  // A rerun has a home of its own.
  const std::string home = ValueOf(variables, "HOME");
  const std::string given = ValueOf(variables, "PYTHONUSERBASE");
  const fs::path user = !given.empty() ? fs::path(given) : fs::path(home) / ".local";
  if (!IsIsolated(python->kind) && user.is_absolute() && !PackageFoldersBelow(user).empty()) {
    python->user_base = WithoutLinks(user).string();
  }
}

}  // namespace rharness
