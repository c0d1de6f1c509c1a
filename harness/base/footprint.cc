// Reads /proc/PID/{exe,cwd,cmdline,environ,maps}.
#include "harness/base/footprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

std::string LinkTarget(const fs::path& link) {
  std::error_code error;
  return fs::read_symlink(link, error).string();
}

std::string ContentOf(const fs::path& path) {
  auto content = ReadFile(path);
  return content.ok() ? std::move(*content) : std::string();
}

// The next of several texts that end with `end`.
std::string_view Take(std::string_view* text, char end) {
  const std::string_view first = text->substr(0, text->find(end));
  text->remove_prefix(std::min(text->size(), first.size() + 1));
  return first;
}

std::map<std::string, std::string> Pick(std::string_view environ,
                                        const std::vector<std::string>& names) {
  std::map<std::string, std::string> picked;
  while (!environ.empty()) {
    const std::string_view entry = Take(&environ, '\0');
    const std::string_view name = entry.substr(0, entry.find('='));
    if (name.size() < entry.size() && std::ranges::find(names, name) != names.end()) {
      picked.emplace(name, entry.substr(name.size() + 1));
    }
  }
  return picked;
}

}  // namespace

std::set<std::string> MappedCode(std::string_view maps) {
  constexpr std::string_view kDeleted = " (deleted)";
  std::set<std::string> files;
  while (!maps.empty()) {
    const std::string_view line = Take(&maps, '\n');
    const auto slash = line.find('/');
    const auto rights = line.find(' ');
    if (slash == line.npos || rights == line.npos || rights + 3 >= slash) continue;
    const std::string_view path = line.substr(slash);
    if (line[rights + 3] != 'x' || path.ends_with(kDeleted) || path.starts_with("/dev/") ||
        path.starts_with("/memfd:") || path.starts_with("/SYSV")) {
      continue;
    }
    files.emplace(path);
  }
  return files;
}

void AddProcess(int pid, const std::vector<std::string>& variables, Footprint* footprint) {
  const fs::path folder = fmt::format("/proc/{}", pid);
  SeenProgram program{.executable = LinkTarget(folder / "exe"),
                      .invoked_as = {},
                      .working_directory = LinkTarget(folder / "cwd"),
                      .variables = {}};
  // Between fork and exec a child still is this program.
  static const std::string kOwn = LinkTarget("/proc/self/exe");
  if (program.executable.empty() || program.executable == kOwn) return;
  footprint->mapped.merge(MappedCode(ContentOf(folder / "maps")));
  const std::string arguments = ContentOf(folder / "cmdline");
  program.invoked_as = arguments.substr(0, arguments.find('\0'));
  program.variables = Pick(ContentOf(folder / "environ"), variables);
  // Within execve the parts are of two programs, or not there yet; the next sample has them.
  const bool is_whole = !arguments.empty() && ContentOf(folder / "cmdline") == arguments &&
                        LinkTarget(folder / "exe") == program.executable;
  if (is_whole) footprint->programs.insert(std::move(program));
}

}  // namespace rharness
