// Names of variables and of a command's arguments. Pure.
#ifndef RHARNESS_HARNESS_RECORDS_MANIFEST_COMMAND_ARGUMENTS_H_
#define RHARNESS_HARNESS_RECORDS_MANIFEST_COMMAND_ARGUMENTS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

// Letters, digits and '_', no digit first (POSIX.1-2017, XBD 8.1).
bool IsVariableName(std::string_view name);

// The name of an argument: the option before it, or the one in it ("--lr=0.1"), else its number.
std::string ArgumentName(const std::vector<std::string>& command, std::size_t argument);

// The argument by which a command passes `name`: "--lr", "lr" and "learning-rate" all match one
// with these letters, whatever dashes stand before it, and '-' is '_'.
struct FoundArgument {
  std::size_t argument = 0;
  std::string prefix;  // its fixed part: "--lr=" before a value
  std::string value;
};
std::optional<FoundArgument> FindArgument(const std::vector<std::string>& command,
                                          std::string_view name);

// The values that two commands pass under one name, each in its own spelling.
struct ArgumentChange {
  FoundArgument then;
  std::string now;
};
// The differences of two commands that pass the same options and as many other words, in any order
// and spelling ("--lr 0.1", "--lr=0.1"); empty: equal. Nothing: one has an option missing from the
// other, or one twice, so that they cannot be matched by names.
std::optional<std::vector<ArgumentChange>> ChangedArguments(const std::vector<std::string>& then,
                                                            const std::vector<std::string>& now);

// The command with these arguments set. "--name=value" and "--name value" replace every value that
// the command passes under that name, in either spelling; arguments that the command does not pass
// are appended unchanged. A word that is no option's value and an option without one are appended,
// too, an option only if the command does not have it.
std::vector<std::string> SetArguments(const std::vector<std::string>& command,
                                      const std::vector<std::string>& arguments);

// The options that a command has, for messages.
std::vector<std::string> OptionsOf(const std::vector<std::string>& command);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_MANIFEST_COMMAND_ARGUMENTS_H_
