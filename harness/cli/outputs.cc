// Two names of one file are found by the file system where it exists, else by the spelling.
#include "harness/cli/outputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kStdout[] = "-";

bool SameFile(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) || FromAnywhere(a) == FromAnywhere(b);
}

// /dev/stdout may lead to a regular file, and yet is no name to put another file in the place of.
bool IsOfTheSystem(const fs::path& path) {
  const std::string whole = FromAnywhere(path).string();
  return whole.starts_with("/proc/") ||
         (whole.starts_with("/dev/") && !whole.starts_with("/dev/shm/"));
}

// Whether a file can be made at `path`, as far as can be told without making one.
Status CheckPlace(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return InvalidInput("is a folder; expected the name of a file", path.string());
  }
  if ((fs::exists(path, error) && !fs::is_regular_file(path, error)) || IsOfTheSystem(path)) {
    return InvalidInput("is no regular file; expected a file, a name that is free, or - for stdout",
                        path.string());
  }
  fs::path folder = FromAnywhere(path).parent_path();
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  if (!fs::is_directory(folder, error)) {
    return InvalidInput(fmt::format("{} is no folder; expected one to write in", folder.string()),
                        path.string());
  }
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return IoErrorFromErrno(fmt::format("cannot write in {}", folder.string()), errno, path.string());
}

}  // namespace

Status CheckOutputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs,
                    bool stdout_taken) {
  std::vector<std::string> taken = inputs;
  std::erase(taken, "");
  for (const std::string& output : outputs) {
    if (output.empty()) continue;
    if (output == kStdout) {
      if (stdout_taken) return InvalidInput("only one output can go to stdout");
      stdout_taken = true;
      continue;
    }
    const auto other = std::ranges::find_if(
        taken, [&](const std::string& path) { return SameFile(output, path); });
    if (other != taken.end()) {
      return InvalidInput("an output would take the place of " + TerminalSafe(*other), output);
    }
    RETURN_IF_ERROR(CheckPlace(output));
    taken.push_back(output);
  }
  return {};
}

std::vector<std::string> PathsOf(const std::vector<Output>& outputs) {
  std::vector<std::string> paths;
  std::ranges::transform(outputs, std::back_inserter(paths), &Output::path);
  return paths;
}

fs::path FromAnywhere(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.lexically_normal();
}

std::string PlaceLine(std::string_view what, const fs::path& path) {
  return fmt::format("{}: {}\n", what, TerminalSafe(FromAnywhere(path).string()));
}

Status MakeFolderOf(const fs::path& path) {
  std::error_code error;
  const fs::path folder = FromAnywhere(path).parent_path();
  if (fs::exists(folder, error)) return {};
  RETURN_IF_ERROR(MakeDirectories(folder));
  LogInfo(fmt::format("made the folder {}", TerminalSafe(folder.string())));
  return {};
}

Status WriteFiles(const std::vector<Output>& outputs) {
  for (const Output& output : outputs) {
    if (output.path.empty() || output.path == kStdout) continue;
    RETURN_IF_ERROR(MakeFolderOf(output.path));
    RETURN_IF_ERROR(WriteFileAtomic(output.path, output.make()));
  }
  return {};
}

const Output* OnStdout(const std::vector<Output>& outputs) {
  const auto output = std::ranges::find(outputs, kStdout, &Output::path);
  return output == outputs.end() ? nullptr : &*output;
}

int PrintReport(const std::vector<Output>& outputs, const Told& told) {
  int printed = kExitOk;
  if (const Output* output = OnStdout(outputs); output != nullptr) {
    printed = Print(output->make());
  } else if (told.as_json) {
    printed = PrintJson(told.json());
  } else if (!Globals().quiet) {
    printed = Print(told.text());
  } else if (told.exit_code != kExitOk) {
    printed = Print(fmt::format("rharness {}: {}\n", told.verb, TerminalSafe(told.headline)));
  }
  return printed != kExitOk ? printed : told.exit_code;
}

}  // namespace rharness
