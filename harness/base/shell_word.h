// A text as a shell takes it for one word, in commands that are told to be run. Pure.
#ifndef RHARNESS_HARNESS_BASE_SHELL_WORD_H_
#define RHARNESS_HARNESS_BASE_SHELL_WORD_H_

#include <string>
#include <string_view>

namespace rharness {

// As it is where nothing in it means anything to a shell, else between single quotes (POSIX.1-2017,
// Shell Command Language, 2.2.2).
std::string ShellWord(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_SHELL_WORD_H_
