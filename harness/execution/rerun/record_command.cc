// Absolute paths in a recorded command; see record_find.h.
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "harness/execution/rerun/record_find.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Whether it is code that a rerun's own tree has: not in a virtual environment, nor what a link
// leads to elsewhere. Folders, data and outputs stay where the command says.
bool IsOfTree(const fs::path& path, const fs::path& base) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || !IsSourceName(path.string())) return false;
  const fs::path real = fs::weakly_canonical(path, error);
  if (error || !real.string().starts_with(base.string() + "/")) return false;
  for (fs::path folder = path; folder != base; folder = folder.parent_path()) {
    if (fs::exists(folder / "pyvenv.cfg", error) || folder == folder.parent_path()) return false;
  }
  return true;
}

// A program that was compiled is started where it lies: no commit has it.
bool IsScript(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return file.get() == '#' && file.get() == '!';
}

}  // namespace

std::vector<std::string> CommandOfTree(const std::vector<std::string>& command,
                                       const fs::path& folder, std::string_view working_directory) {
  std::error_code error;
  const fs::path here = fs::weakly_canonical(folder, error);
  fs::path base = here;
  const fs::path below(working_directory);
  for (auto step = below.begin(); step != below.end(); ++step) base = base.parent_path();
  std::vector<std::string> words = command;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto equals = word.starts_with('-') ? word.find("=/") : word.npos;
    const std::size_t at = equals == word.npos ? 0 : equals + 1;
    const fs::path path = fs::path(word.substr(at)).lexically_normal();
    const bool inside = path.string().starts_with(base.string() + "/");
    if (base == "/" || !inside || !IsOfTree(path, base) || (i == 0 && !IsScript(path))) continue;
    const std::string relative = path.lexically_relative(here).string();
    // A bare name would be looked for in PATH.
    words[i] = word.substr(0, at) + (i == 0 ? "./" : "") + relative;
  }
  return words;
}

}  // namespace rharness
