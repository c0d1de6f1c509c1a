// Words of the help: lines that fit a width, and the paragraphs below a verb's options. Pure.
#ifndef RHARNESS_HARNESS_CLI_HELP_TEXT_H_
#define RHARNESS_HARNESS_CLI_HELP_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "harness/cli/command.h"

namespace rharness {

inline constexpr std::size_t kHelpColumns = 100;

// Breaks lines at blanks so that each has at most `columns` bytes, if its words let it. Breaks and
// indents that are there stay. No newline at the end.
std::string Wrap(std::string_view text, std::size_t columns);

// "TEXT", "{auto,host}", "INT in [1 - 1000]": what the help says of an option's value.
std::string ValueText(const OptionFacts& option);

// Paragraphs, exit codes and examples, a blank line between them; no newline at the end.
std::string NotesText(const CommandNotes& notes);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_HELP_TEXT_H_
