// Two names of one file are found by the file system where it exists, else by the spelling.
#include "harness/cli/outputs.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kStdout[] = "-";

bool SameFile(const fs::path& a, const fs::path& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  const fs::path whole_a = fs::absolute(a, error), whole_b = fs::absolute(b, error);
  return whole_a.lexically_normal() == whole_b.lexically_normal();
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
    taken.push_back(output);
  }
  return {};
}

std::vector<std::string> PathsOf(const std::vector<Output>& outputs) {
  std::vector<std::string> paths;
  std::ranges::transform(outputs, std::back_inserter(paths), &Output::path);
  return paths;
}

Status WriteFiles(const std::vector<Output>& outputs) {
  for (const Output& output : outputs) {
    if (output.path.empty() || output.path == kStdout) continue;
    RETURN_IF_ERROR(WriteFileAtomic(output.path, output.make()));
  }
  return {};
}

const Output* OnStdout(const std::vector<Output>& outputs) {
  const auto output = std::ranges::find(outputs, kStdout, &Output::path);
  return output == outputs.end() ? nullptr : &*output;
}

}  // namespace rharness
