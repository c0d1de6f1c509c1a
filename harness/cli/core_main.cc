// rharness: the verbs of a first drill. For every other word it becomes rharness-more, which lies
// beside it and holds all verbs, so that a first drill need not compile them. See program.h.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "harness/base/files.h"
#include "harness/cli/program.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

void AddCoreVerbs(Command& root) {
  for (const auto add : {AddRecord, AddHistory, AddDrill, AddHash, AddRerun}) add(root);
}

bool IsCoreVerb(std::string_view verb) {
  Command root("rharness", "");
  AddCoreVerbs(root);
  return root.Find(verb) != nullptr;
}

// A configuration file may set options of every verb.
bool HasConfiguration(int argc, char** argv) {
  const char* named = std::getenv(Program().config_env.c_str());
  if (named != nullptr && *named != '\0') return true;
  return std::any_of(argv + 1, argv + argc, [](std::string_view word) {
    return word.starts_with(Program().config_option);
  });
}

// Returns only where rharness-more is not there or does not start.
Error BecomeMore(char** argv) {
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  if (failed) return IoErrorFromErrno("cannot read", failed.value(), "/proc/self/exe");
  const fs::path more = self.parent_path() / kMoreProgram;
  ::execv(more.c_str(), argv);
  const int reason = errno;
  if (reason != ENOENT) return IoErrorFromErrno("cannot start", reason, more.string());
  return NotFound(
      "expected the program of the other verbs beside rharness; `./dev build` builds it",
      more.string());
}

int Main(int argc, char** argv) {
  const std::string_view verb = TypedVerb(Program(), argc, argv);
  const bool is_core = IsCoreVerb(verb);
  if (!is_core || HasConfiguration(argc, argv)) {
    const Error error = BecomeMore(argv);
    // Without it the program still helps with the verbs that it has.
    if (error.code != ErrorCode::kNotFound || (!is_core && !verb.empty())) return FailWith(error);
  }
  return RunProgram(AddCoreVerbs, argc, argv);
}

}  // namespace
}  // namespace rharness

int main(int argc, char** argv) { return rharness::Main(argc, argv); }
