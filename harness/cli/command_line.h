// A command line, read by the commands that are declared: values into their targets, or what is
// wrong.
//
// Role: the one file of rharness that knows CLI11.
#ifndef RHARNESS_HARNESS_CLI_COMMAND_LINE_H_
#define RHARNESS_HARNESS_CLI_COMMAND_LINE_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/cli/command.h"

namespace rharness {

// What holds for the whole program.
struct ProgramFacts {
  std::string version;
  std::string config_option = "--config";  // names the file of options
  std::string config_env;                  // the variable that names it, too
};

struct ParsedLine {
  Action action;      // empty: done already, with the exit code below
  int exit_code = 0;  // --help and --version: 0
};

// The verb as typed: the first word that is no option. Empty if there is none.
std::string_view TypedVerb(const ProgramFacts& program, int argc, const char* const* argv);

// Parses. --help and --version print to stdout; what cannot be parsed is said on stderr, with the
// nearest name for one that was mistyped, and its exit code is kExitUsage. Unset options take their
// value from the environment, then from the configuration file.
ParsedLine ParseCommandLine(Command& root, const ProgramFacts& program, int argc,
                            const char* const* argv);

// What --help prints of the command that these verbs name; none: of the root. Errors: not_found,
// with the nearest name.
Result<std::string> HelpOf(Command& root, const ProgramFacts& program,
                           const std::vector<std::string>& verbs);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_COMMAND_LINE_H_
