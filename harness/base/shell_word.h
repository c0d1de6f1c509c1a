// Quotes a text as one word of a shell, for commands in messages. Pure.
#ifndef RHARNESS_HARNESS_BASE_SHELL_WORD_H_
#define RHARNESS_HARNESS_BASE_SHELL_WORD_H_

#include <string>
#include <string_view>

namespace rharness {

// Unchanged if no character of it is special to a shell, else between single quotes (POSIX.1-2017,
// Shell Command Language, 2.2.2).
std::string ShellWord(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_SHELL_WORD_H_
