// A shell line of DVC as an argument vector.
//
// Role: private to DVC's importer. Pure.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_DVC_COMMAND_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_DVC_COMMAND_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

// The words of a line that is only a program and its arguments in every shell: no variable,
// pattern, redirection, second command, assignment, reserved or built-in word. Quotes and
// backslashes follow POSIX. Empty for any other line.
std::optional<std::vector<std::string>> PlainWords(std::string_view line);

// A command that runs the lines one after the other, each in a shell of its own, until one fails:
// the words of a single plain line, else /bin/sh with the lines as arguments. Empty without lines.
std::vector<std::string> CommandOfLines(const std::vector<std::string>& lines);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_DVC_COMMAND_H_
