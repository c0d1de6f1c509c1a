// The only writer on stderr: messages, and on a terminal a status line rewritten below them.
//
// A message never tears the status line: it replaces it, and the line is drawn again below.
// Thread-safe; each call is one write.
#ifndef RHARNESS_HARNESS_BASE_STDERR_LINE_H_
#define RHARNESS_HARNESS_BASE_STDERR_LINE_H_

#include <string>
#include <string_view>

namespace rharness {

// `message` ends with a line break and contains no other.
void WriteMessage(std::string_view message);
// Replaces the status line; `text` fits into one row of the terminal. Only for a terminal.
void ShowStatusLine(std::string text);
// Takes it away; nothing where none is shown.
void ClearStatusLine();
// The same from a signal handler that ends the process: no message may follow.
void AbandonStatusLine() noexcept;

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_STDERR_LINE_H_
