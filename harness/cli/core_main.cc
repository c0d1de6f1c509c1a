// rharness: the verbs of a first drill. For every other word it becomes rharness-more, which lies
// beside it and holds all verbs, so that a first drill need not compile them. See program.h.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <span>
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

// Of a verb that has verbs below it, by the one that is typed; without one it is asked for help.
bool IsCoreVerb(std::string_view verb, std::span<char*> words) {
  Command root("rharness", "");
  AddCoreVerbs(root);
  const Command* found = root.Find(verb);
  if (found == nullptr || found->VerbNames().empty()) return found != nullptr;
  const auto at =
      std::ranges::find(words, verb, [](const char* word) { return std::string_view(word); });
  const auto below = std::find_if(at == words.end() ? at : at + 1, words.end(),
                                  [](const char* word) { return *word != '-'; });
  return below != words.end() && found->Find(*below) != nullptr;
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
  const bool is_core = IsCoreVerb(verb, std::span(argv + 1, static_cast<std::size_t>(argc - 1)));
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
