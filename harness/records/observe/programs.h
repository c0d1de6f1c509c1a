// What can be seen of a program from outside: whether the library loads into it, and whether it
// reads its environment as a whole.
#ifndef RHARNESS_HARNESS_RECORDS_OBSERVE_PROGRAMS_H_
#define RHARNESS_HARNESS_RECORDS_OBSERVE_PROGRAMS_H_

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace rharness {

enum class ProgramKind {
  kSeen,      // dynamically linked: lookups by name are noted
  kPython,    // reads its environment as a whole: only the hooks see it
  kShell,     // reads its environment as a whole, and uses what its script names
  kOther,     // reads its environment as a whole: perl, node, ...
  kUnlinked,  // statically linked, or of another machine: the library does not load
};
// Of an executable's file, absolute.
ProgramKind KindOf(const std::filesystem::path& executable);

// The file that this command starts, links resolved and interpreters of scripts followed; empty if
// not known.
std::filesystem::path ProgramOf(const std::string& command,
                                const std::map<std::string, std::string>& environment,
                                const std::filesystem::path& working_directory);

// Why the library must not be loaded into this program, in words; empty: it may.
std::string WhyNotPreload(const std::filesystem::path& program);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_OBSERVE_PROGRAMS_H_
