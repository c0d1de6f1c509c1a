// The interpreter says where the packages are; which libraries they hold, the folders say.
#include "harness/cli/python_libraries.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/environment.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Without the folder that it runs in, which "-c" puts first and which is none of its packages.
constexpr char kFindPackages[] =
    "import os, sys\n"
    "sys.path = [folder for folder in sys.path if folder]\n"
    "from importlib.util import find_spec\n"
    "for package in ('nvidia', 'numpy'):\n"
    "    found = find_spec(package)\n"
    "    for folder in (found.submodule_search_locations or []) if found else []:\n"
    "        print(package, folder)\n"
    // Conda has the libraries of all packages in one folder.
    "if os.path.isdir(os.path.join(sys.prefix, 'conda-meta')):\n"
    "    print('conda', os.path.join(sys.prefix, 'lib'))\n";

std::vector<fs::path> LibFoldersBelow(const fs::path& packages) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const fs::directory_entry& package : fs::directory_iterator(packages, error)) {
    folders.push_back(package.path() / "lib");
  }
  std::ranges::sort(folders);
  return folders;
}

std::vector<fs::path> FoldersOf(const std::string& package, const std::string& folder) {
  if (package == "numpy") return {folder + ".libs"};
  if (package == "conda") return {folder};
  return LibFoldersBelow(folder);
}

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
    return ProcessError(fmt::format("cannot list its packages: {} {}", result.outcome.ToString(),
                                    TerminalSafe(result.stderr_text)),
                        fmt::format("--python '{}'", TerminalSafe(python)));
  }
  std::vector<std::string> folders;
  std::istringstream lines(result.stdout_text);
  std::string package, folder;
  bool numpy = false;
  while (lines >> package && std::getline(lines >> std::ws, folder)) {
    numpy = numpy || package == "numpy";
    for (const fs::path& candidate : FoldersOf(package, folder)) {
      if (HoldsLibraries(candidate)) folders.push_back(candidate.string());
    }
  }
  // A distribution's NumPy has the system's BLAS, and can be asked itself.
  if (!folders.empty() || numpy) return folders;
  return NotFound("brings no libraries; expected packages such as nvidia-cudnn-cu13, or NumPy",
                  fmt::format("--python '{}'", TerminalSafe(python)));
}

}  // namespace rharness
