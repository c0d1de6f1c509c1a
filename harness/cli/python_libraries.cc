// The interpreter says where the packages are; which libraries they hold, the folders say.
#include "harness/cli/python_libraries.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/manifest/environment.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kFindPackages[] =
    "import importlib.util\n"
    "found = importlib.util.find_spec('nvidia')\n"
    "for folder in (found.submodule_search_locations or []) if found else []: print(folder)\n";

bool HoldsLibraries(const fs::path& folder) {
  std::error_code error;
  const fs::directory_iterator entries(folder, error);
  return std::any_of(fs::begin(entries), fs::end(entries), [](const fs::directory_entry& entry) {
    return entry.path().filename().string().find(".so") != std::string::npos;
  });
}

}  // namespace

Result<std::vector<std::string>> PythonLibraryFolders(const std::string& python) {
  ProcessLimits limits;
  limits.timeout = std::chrono::minutes(2);
  const ProcessResult result = RunProcess(
      {.argv = {python, "-c", kFindPackages}, .environment = ProcessEnvironment()}, limits);
  if (!result.outcome.Succeeded()) {
    return ProcessError(fmt::format("cannot ask for its packages: {} {}", result.outcome.ToString(),
                                    TerminalSafe(result.stderr_text)),
                        fmt::format("--python '{}'", TerminalSafe(python)));
  }
  std::vector<std::string> folders;
  std::istringstream lines(result.stdout_text);
  for (std::string packages; std::getline(lines, packages);) {
    std::error_code error;
    for (const fs::directory_entry& package : fs::directory_iterator(packages, error)) {
      const fs::path folder = package.path() / "lib";
      if (HoldsLibraries(folder)) folders.push_back(folder.string());
    }
  }
  if (folders.empty()) {
    return NotFound("brings no NVIDIA libraries; expected packages such as nvidia-cudnn-cu13",
                    fmt::format("--python '{}'", TerminalSafe(python)));
  }
  std::ranges::sort(folders);
  return folders;
}

}  // namespace rharness
