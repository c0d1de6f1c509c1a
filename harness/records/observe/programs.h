// What can be seen of a program from outside: whether the library is loaded into it, and whether it
// takes its environment as a whole.
#ifndef RHARNESS_HARNESS_RECORDS_OBSERVE_PROGRAMS_H_
#define RHARNESS_HARNESS_RECORDS_OBSERVE_PROGRAMS_H_

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace rharness {

enum class ProgramKind {
  kSeen,      // dynamically linked: what it asks for by name is noted
  kPython,    // takes its environment as a whole: seen by the hooks alone
  kShell,     // takes its environment as a whole, and uses what its script names
  kOther,     // takes its environment as a whole: perl, node, ...
  kUnlinked,  // statically linked, or of another machine: nothing is loaded into it
};
// Of an executable's file, absolute.
ProgramKind KindOf(const std::filesystem::path& executable);

// The file that this command starts, links resolved and interpreters of scripts followed; empty
// where it cannot be told.
std::filesystem::path ProgramOf(const std::string& command,
                                const std::map<std::string, std::string>& environment,
                                const std::filesystem::path& working_directory);

// Why the library should not be put before this program's own, in words; empty: it may.
std::string WhyNotPreload(const std::filesystem::path& program);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_OBSERVE_PROGRAMS_H_
