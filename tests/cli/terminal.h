// A terminal that a program runs on, and what somebody who looks at it sees.
#ifndef RHARNESS_TESTS_CLI_TERMINAL_H_
#define RHARNESS_TESTS_CLI_TERMINAL_H_

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rharness {

// The lines of a screen that is never too small, from what was written to it. Knows line breaks,
// carriage returns, "erase to the end of the line" and colours.
class Screen {
 public:
  void Write(std::string_view bytes);
  std::vector<std::string> lines() const { return lines_; }
  std::string text() const;

 private:
  void Put(char c);

  std::vector<std::string> lines_{""};
  std::size_t column_ = 0;
  std::string sequence_;  // a control sequence that is not whole yet
};

// A program on a terminal of its own, 120 columns wide, as its session's leader.
class TerminalProgram {
 public:
  TerminalProgram(std::vector<std::string> argv, const std::filesystem::path& folder,
                  const std::map<std::string, std::string>& environment);
  ~TerminalProgram();
  TerminalProgram(const TerminalProgram&) = delete;
  TerminalProgram& operator=(const TerminalProgram&) = delete;

  // Reads until `holds` of all that was written so far, or the program's end, or a minute.
  bool ReadUntil(const std::function<bool(const std::string&)>& holds);
  // As on the keyboard: "\x03" interrupts.
  void Type(std::string_view keys) const;
  // Reads to the end. waitpid's status; -1 after a minute.
  int Wait();
  const std::string& written() const { return written_; }
  Screen screen() const;

 private:
  bool ReadSome();

  int master_ = -1;
  pid_t pid_ = -1;
  std::string written_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_TERMINAL_H_
