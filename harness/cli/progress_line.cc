// Drawing progress on stderr.
#include "harness/cli/progress_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "harness/base/files.h"
#include "harness/cli/verb.h"

namespace rharness {
namespace {

std::string Clockwork(std::chrono::nanoseconds span) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(span).count();
  if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds % 3600 / 60, seconds % 60);
}

void Write(const std::string& text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

int TerminalColumns(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 100;
}

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

std::string FormatProgress(const Progress& progress, int columns) {
  std::string text = fmt::format("{}/{} done, {} running, {} elapsed", progress.finished,
                                 progress.total, progress.running, Clockwork(progress.elapsed));
  if (progress.finished < progress.total) {
    text += fmt::format(", about {} left", Clockwork(progress.remaining));
  }
  if (!progress.jobs.empty()) {
    text += fmt::format(": {}", TerminalSafe(fmt::format("{}", fmt::join(progress.jobs, " "))));
  }
  const auto width = static_cast<std::size_t>(std::max(20, columns - 1));
  if (text.size() > width) text = text.substr(0, width - 3) + "...";
  return text;
}

ProgressLine::ProgressLine() : on_(::isatty(STDERR_FILENO) != 0 && !Globals().quiet) {}

ProgressLine::~ProgressLine() { Clear(); }

void ProgressLine::Clear() {
  if (!shown_.empty()) Write("\r\x1b[K");
  shown_.clear();
}

void ProgressLine::Show(const Progress& progress) {
  if (on_) Show(FormatProgress(progress, TerminalColumns(STDERR_FILENO)));
}

void ProgressLine::Show(std::string text) {
  if (!on_) return;
  const auto width = static_cast<std::size_t>(std::max(20, TerminalColumns(STDERR_FILENO) - 1));
  if (text.size() > width) text = text.substr(0, width - 3) + "...";
  if (text == shown_) return;
  Write("\r\x1b[K" + text);
  shown_ = std::move(text);
}

}  // namespace rharness
