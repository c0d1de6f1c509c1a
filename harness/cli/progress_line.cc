// What the streams have room for.
#include "harness/cli/progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "harness/cli/verb.h"

namespace rharness {

int ReportColumns(int fd) {
  constexpr int kNarrowest = 20, kWidest = 1000, kPipe = kWidest;
  if (::isatty(fd) != 0) return TerminalColumns(fd);
  const char* text = std::getenv("COLUMNS");
  int columns = 0;
  if (text == nullptr) return kPipe;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), columns);
  return error == std::errc() && *end == '\0' ? std::clamp(columns, kNarrowest, kWidest) : kPipe;
}

int ReportRows(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row > 0) return size.ws_row;
  return 1000;
}

ProgressStyle VerbProgress() { return ProgressStyleHere(Globals().quiet, Globals().no_color); }

}  // namespace rharness
