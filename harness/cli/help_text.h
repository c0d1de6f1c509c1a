// Words of the help: lines that fit a width, and the paragraphs below a verb's options. Pure.
#ifndef RHARNESS_HARNESS_CLI_HELP_TEXT_H_
#define RHARNESS_HARNESS_CLI_HELP_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/cli/command.h"

namespace rharness {

inline constexpr std::size_t kHelpColumns = 100;
inline constexpr std::size_t kExampleColumns = 78;  // behind an indent of two: for any window

// Breaks lines at blanks so that each has at most `columns` bytes, if its words let it. Breaks and
// indents that are there stay. No newline at the end.
std::string Wrap(std::string_view text, std::size_t columns);

// A command of a shell on lines of at most `columns` bytes, if its words let it: each but the last
// ends with a backslash, and those behind the first are indented by four. What is quoted, or stands
// between brackets, stays together. No newline at the end.
std::string WrapCommand(std::string_view command, std::size_t columns);

// "TEXT", "{auto,host}", "INT in [1 - 1000]": what the help says of an option's value.
std::string ValueText(const OptionFacts& option);

// Paragraphs, exit codes and examples, a blank line between them; no newline at the end.
std::string NotesText(const CommandNotes& notes);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_HELP_TEXT_H_
