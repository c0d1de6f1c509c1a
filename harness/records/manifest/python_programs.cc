// Selects the Python of a run among those seen, and finds its packages.
#include <algorithm>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "harness/base/files.h"
#include "harness/records/manifest/packages.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

std::string TextOf(const fs::path& path) {
  auto content = ReadFile(path, std::uint64_t{1} << 20);
  return content.ok() ? std::move(*content) : std::string();
}

bool IsScript(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return in.get() == '#' && in.get() == '!';
}

// Not a script of that name, which chooses a Python and becomes it, as pyenv's do.
bool IsPython(const SeenProgram& program) {
  const std::string name = fs::path(program.executable).filename().string();
  return (name.starts_with("python") || name.starts_with("pypy")) && !IsScript(program.executable);
}

std::string VariableOf(const SeenProgram& program, const char* name) {
  const auto found = program.variables.find(name);
  return found == program.variables.end() ? std::string() : found->second;
}

std::vector<fs::path> SplitPath(const SeenProgram& program, const char* name) {
  std::vector<fs::path> folders;
  const std::string value = VariableOf(program, name);
  std::string_view rest = value;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    if (!folder.empty()) folders.push_back(fs::path(program.working_directory) / folder);
  }
  return folders;
}

// The started file, links not followed: a virtual environment's python is a link out of it. None:
// not known. A sample may meet a process that has changed its folder or name since, or is in
// execve: its data then name no file.
std::optional<fs::path> InvokedFile(const SeenProgram& program) {
  const fs::path name = program.invoked_as;
  std::error_code error;
  if (name.has_parent_path()) {
    fs::path file = (fs::path(program.working_directory) / name).lexically_normal();
    return fs::exists(file, error) ? std::optional(std::move(file)) : std::nullopt;
  }
  for (const fs::path& folder : SplitPath(program, "PATH")) {
    fs::path file = (folder / name).lexically_normal();
    if (!name.empty() && fs::exists(file, error)) return file;
  }
  return std::nullopt;
}

void AddBelow(const fs::path& library, const std::string& python, std::vector<fs::path>* out) {
  for (const char* leaf : {"site-packages", "dist-packages"}) {
    out->push_back(library / python / leaf);
  }
}

std::vector<std::string> PythonsIn(const fs::path& library) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(library, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name.starts_with("python") || name.starts_with("pypy")) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

void AddPrefix(const fs::path& prefix, std::vector<fs::path>* out) {
  for (const char* library : {"lib", "lib64"}) {
    for (const std::string& python : PythonsIn(prefix / library)) {
      AddBelow(prefix / library, python, out);
    }
  }
}

// The value behind "KEY = ", as pyvenv.cfg has it.
std::string ConfiguredValue(const std::string& text, std::string_view key) {
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const auto equals = line.find('=');
    if (equals == line.npos) continue;
    const auto trimmed = [](std::string_view part) {
      const auto begin = part.find_first_not_of(" \t\r");
      if (begin == part.npos) return std::string_view();
      return part.substr(begin, part.find_last_not_of(" \t\r") + 1 - begin);
    };
    if (trimmed(line.substr(0, equals)) == key)
      return std::string(trimmed(line.substr(equals + 1)));
  }
  return "";
}

// "python3.11" of "/usr/bin/python3.11"; "python3" if the file name has no version.
std::string VersionedName(const fs::path& executable) {
  const std::string name = executable.filename().string();
  const auto end = name.find_first_not_of("0123456789.", name.find_first_of("0123456789"));
  return name.substr(0, end);
}

void AddBase(const SeenProgram& program, std::vector<fs::path>* out) {
  const fs::path prefix = fs::path(program.executable).parent_path().parent_path();
  const std::string python = VersionedName(program.executable);
  if (const std::string home = VariableOf(program, "HOME"); !home.empty()) {
    AddBelow(fs::path(home) / ".local/lib", python, out);
  }
  if (prefix == "/usr") AddBelow("/usr/local/lib", python, out);
  AddBelow(prefix / "lib", python, out);
  AddBelow(prefix / "lib", "python3", out);
}

// ".../site-packages" of a file below it.
std::optional<fs::path> PackageFolderOf(std::string_view mapped) {
  std::size_t end = std::string_view::npos;
  for (const std::string_view leaf : {"/site-packages/", "/dist-packages/"}) {
    const auto at = mapped.rfind(leaf);
    if (at != mapped.npos && (end == mapped.npos || at + leaf.size() > end)) end = at + leaf.size();
  }
  if (end == std::string_view::npos) return std::nullopt;
  return fs::path(mapped.substr(0, end - 1));
}

bool IsOfPyenv(const fs::path& prefix) {
  std::error_code error;
  const fs::path versions = prefix.parent_path();
  return versions.filename() == "versions" && fs::exists(versions.parent_path() / "shims", error);
}

fs::path Resolved(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  return error ? path.lexically_normal() : real;
}

// One Python that was seen.
struct SeenPython {
  const SeenProgram* program;
  std::optional<fs::path> invoked;
  fs::path prefix;  // as started, links not followed
  fs::path real_prefix;
  PythonKind kind = PythonKind::kSystem;
  bool sees_base = true;
  bool is_named = false;   // by its own VIRTUAL_ENV or CONDA_PREFIX
  std::size_t mapped = 0;  // files below its prefix that were mapped
};

SeenPython Look(const SeenProgram& program, const Footprint& footprint) {
  SeenPython seen{.program = &program, .invoked = InvokedFile(program)};
  if (seen.invoked) seen.prefix = seen.invoked->parent_path().parent_path();
  const std::string settings = seen.invoked ? TextOf(seen.prefix / "pyvenv.cfg") : "";
  std::error_code error;
  if (!settings.empty()) {
    seen.kind = ConfiguredValue(settings, "uv").empty() ? PythonKind::kVenv : PythonKind::kUv;
    seen.sees_base = ConfiguredValue(settings, "include-system-site-packages") == "true";
  } else {
    const fs::path real = fs::path(program.executable).parent_path().parent_path();
    if (Resolved(seen.prefix) != Resolved(real)) seen.prefix = real;
    if (fs::is_directory(real / "conda-meta", error)) {
      seen.kind = PythonKind::kConda;
    } else if (IsOfPyenv(real)) {
      seen.kind = PythonKind::kPyenv;
    }
  }
  seen.real_prefix = Resolved(seen.prefix);
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string named = VariableOf(program, name);
    seen.is_named = seen.is_named || (!named.empty() && Resolved(named) == seen.real_prefix);
  }
  const std::string own = seen.real_prefix.string() + "/";
  seen.mapped = static_cast<std::size_t>(std::ranges::count_if(
      footprint.mapped, [&](const std::string& path) { return path.starts_with(own); }));
  return seen;
}

// All that were seen, the run's own first. A launcher or a wrapper has a Python of its own: first
// the one that its variables name, then one made for a project, then the one with more used
// packages.
std::vector<SeenPython> PythonsOf(const Footprint& footprint) {
  std::vector<SeenPython> pythons;
  for (const SeenProgram& program : footprint.programs) {
    if (IsPython(program)) pythons.push_back(Look(program, footprint));
  }
  if (std::ranges::any_of(pythons, [](const SeenPython& one) { return one.invoked.has_value(); })) {
    std::erase_if(pythons, [](const SeenPython& one) { return !one.invoked; });
  }
  std::ranges::stable_sort(pythons, [](const SeenPython& a, const SeenPython& b) {
    const auto rank = [](const SeenPython& one) {
      return std::tuple(one.is_named, IsIsolated(one.kind), one.mapped);
    };
    if (rank(a) != rank(b)) return rank(a) > rank(b);
    return a.real_prefix < b.real_prefix;
  });
  return pythons;
}

void AddFoldersOf(const SeenPython& python, std::vector<fs::path>* out) {
  for (const fs::path& folder : SplitPath(*python.program, "PYTHONPATH")) out->push_back(folder);
  const bool is_virtual = python.kind == PythonKind::kVenv || python.kind == PythonKind::kUv;
  if (is_virtual) AddPrefix(python.prefix, out);
  if (!is_virtual || python.sees_base) AddBase(*python.program, out);
}

std::optional<fs::path> ExistingFolder(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  if (error || !fs::is_directory(real, error)) return std::nullopt;
  return real;
}

std::string Below(const fs::path& path, const fs::path& base) {
  const fs::path below = path.lexically_relative(base);
  if (base.empty() || below.empty() || below == "." || *below.begin() == "..") return "";
  return below.string();
}

}  // namespace

std::optional<PythonEnvironment> FindPython(const Footprint& footprint, const fs::path& base) {
  const std::vector<SeenPython> pythons = PythonsOf(footprint);
  if (pythons.empty()) return std::nullopt;
  const SeenPython& first = pythons.front();
  PythonEnvironment python{.kind = first.kind,
                           .prefix = first.real_prefix.string(),
                           .interpreter = first.program->executable};
  for (const SeenPython& one : pythons) {
    if (one.real_prefix != first.real_prefix) continue;
    if (python.place.empty()) python.place = Below(one.prefix, base);
    if (python.program.empty() && one.invoked) python.program = Below(*one.invoked, one.prefix);
  }
  if (python.program.empty()) {
    python.program = "bin/" + fs::path(python.interpreter).filename().string();
  }
  return python;
}

std::vector<fs::path> PackageFolders(const Footprint& footprint) {
  std::vector<fs::path> candidates;
  std::vector<fs::path> others;
  const std::vector<SeenPython> pythons = PythonsOf(footprint);
  for (const SeenPython& one : pythons) {
    const bool is_first = one.real_prefix == pythons.front().real_prefix;
    AddFoldersOf(one, is_first ? &candidates : &others);
  }
  std::set<fs::path> foreign;  // of a launcher's Python, not of the run
  for (const fs::path& folder : others) {
    if (auto real = ExistingFolder(folder)) foreign.insert(std::move(*real));
  }
  for (const fs::path& folder : candidates) {
    if (const auto real = ExistingFolder(folder)) foreign.erase(*real);
  }
  for (const std::string& path : footprint.mapped) {
    if (auto folder = PackageFolderOf(path)) candidates.push_back(std::move(*folder));
  }
  std::vector<fs::path> folders;
  std::set<fs::path> known;
  for (const fs::path& candidate : candidates) {
    auto real = ExistingFolder(candidate);
    if (real && !foreign.contains(*real) && known.insert(*real).second) {
      folders.push_back(std::move(*real));
    }
  }
  return folders;
}

std::vector<fs::path> PackageFoldersBelow(const fs::path& prefix) {
  std::vector<fs::path> candidates;
  AddPrefix(prefix, &candidates);
  std::vector<fs::path> folders;
  std::set<fs::path> known;
  for (const fs::path& candidate : candidates) {
    auto real = ExistingFolder(candidate);
    if (real && known.insert(*real).second) folders.push_back(std::move(*real));
  }
  return folders;
}

}  // namespace rharness
