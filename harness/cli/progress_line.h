// The one line of progress on a terminal; nothing anywhere else.
#ifndef RHARNESS_HARNESS_CLI_PROGRESS_LINE_H_
#define RHARNESS_HARNESS_CLI_PROGRESS_LINE_H_

#include <string>

#include "harness/drill/scheduler.h"

namespace rharness {

// Width of the terminal behind a file descriptor; 100 where it is none.
int TerminalColumns(int fd);
int TerminalRows(int fd);  // height alike; 50

// Text of the line, at most `columns` wide: "5/12 done, 2 running, 0:42 elapsed, about 1:10 left".
std::string FormatProgress(const Progress& progress, int columns);

// Rewrites the line on stderr while it is a terminal and not --quiet; clears it when destroyed.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  void Show(const Progress& progress);
  void Show(std::string text);  // cut to the terminal's width
  void Clear();

 private:
  bool on_;
  std::string shown_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_CLI_PROGRESS_LINE_H_
