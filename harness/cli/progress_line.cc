// What the streams have room for.
#include "harness/cli/progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "harness/cli/verb.h"

namespace rharness {

namespace {

constexpr int kNarrowest = 20, kWidest = 1000;

// What COLUMNS says on a pipe or file; nothing on a terminal, which says it itself.
std::optional<int> ColumnsVariable(int fd) {
  const char* text = ::isatty(fd) != 0 ? nullptr : std::getenv("COLUMNS");
  int columns = 0;
  if (text == nullptr) return std::nullopt;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), columns);
  if (error != std::errc() || *end != '\0') return std::nullopt;
  return std::clamp(columns, kNarrowest, kWidest);
}

}  // namespace

int TextColumns(int fd) { return ColumnsVariable(fd).value_or(TerminalColumns(fd)); }

int ReportColumns(int fd) {
  return ::isatty(fd) != 0 ? TerminalColumns(fd) : ColumnsVariable(fd).value_or(kWidest);
}

int ReportRows(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row > 0) return size.ws_row;
  return 1000;
}

ProgressStyle VerbProgress() { return ProgressStyleHere(Globals().quiet, Globals().no_color); }

}  // namespace rharness
