// Names of manifests that nobody gave one.
#include "harness/cli/manifest_name.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "harness/base/descriptor.h"
#include "harness/base/files.h"
#include "harness/execution/rerun/record_find.h"

namespace rharness {
namespace {

// Of the family, as a run's name can have it: "my_project" of "my project".
std::string NameOfRuns(const std::vector<std::string>& command) {
  std::error_code ignored;
  std::string name = FamilyByName(command, std::filesystem::current_path(ignored));
  std::ranges::replace_if(
      name,
      [](char c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        return !letter && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.';
      },
      '_');
  name.erase(0, name.find_first_not_of("._-"));
  return name.empty() ? "run" : name;
}

}  // namespace

std::filesystem::path NextManifest(const std::vector<std::string>& command) {
  std::error_code ignored;
  const std::string family = NameOfRuns(command);
  for (int i = 1;; ++i) {
    std::filesystem::path out = fmt::format("runs/{}-{}.json", family, i);
    const bool is_free = !std::filesystem::exists(out, ignored) &&
                         !std::filesystem::exists(out.string() + ".parts", ignored);
    if (is_free) return out;
  }
}

std::string OutOfGang() {
  const auto variables = ProcessEnvironment();
  const auto found = variables.find(kGangOutVariable);
  return found == variables.end() ? "" : found->second;
}

Result<std::string> FreeManifest(const std::vector<std::string>& command,
                                 const std::optional<TaskPlace>& task) {
  if (!task) return NextManifest(command).string();
  if (const std::string chosen = OutOfGang(); !chosen.empty()) return chosen;
  if (task->id.empty()) {
    return InvalidInput(task->launcher + " gives its tasks no common name; expected --out FILE");
  }
  return fmt::format("runs/{}-{}.json", NameOfRuns(command), task->id);
}

Status TakePlace(const std::vector<std::string>& command, Manifest* manifest,
                 std::filesystem::path* out) {
  for (;;) {
    const Descriptor made(
        ::open(out->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (made.valid()) return {};
    if (errno != EEXIST) return IoErrorFromErrno("cannot create", errno, out->string());
    *out = out->parent_path() / NextManifest(command).filename();
    manifest->run_id = out->stem().string();
    if (manifest->origin) manifest->origin->id = manifest->run_id;
  }
}

}  // namespace rharness
