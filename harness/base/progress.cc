// Wording, pace and place of progress.
#include "harness/base/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "harness/base/files.h"
#include "harness/base/log.h"
#include "harness/base/stderr_line.h"

namespace rharness {
namespace {

using std::chrono::nanoseconds;

constexpr int kLogColumns = 120;
constexpr int kTerminalColumns = 100;  // where no terminal tells
constexpr int kNarrowest = 20;
constexpr nanoseconds kInterval = std::chrono::minutes(1);
constexpr int kSlowing = 10;  // lines come when this part of the time elapsed has passed again

std::string Clockwork(std::chrono::seconds span) {
  const auto seconds = span.count();
  if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds % 3600 / 60, seconds % 60);
}

std::string Shortened(std::string text, int columns) {
  auto width = static_cast<std::size_t>(std::max(kNarrowest, columns - 1));
  if (text.size() <= width) return text;
  width -= 3;
  while (width > 0 && (static_cast<unsigned char>(text[width]) & 0xC0) == 0x80) --width;
  return text.substr(0, width) + "...";
}

bool IsSet(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

Progress CountProgress(std::string_view what, std::size_t finished, std::size_t total,
                       nanoseconds elapsed, std::string_view job) {
  Progress progress{.what = what,
                    .finished = static_cast<int>(finished),
                    .total = static_cast<int>(total),
                    .elapsed = elapsed};
  if (finished > 0) {
    const double share = static_cast<double>(total - finished) / static_cast<double>(finished);
    progress.remaining =
        nanoseconds(static_cast<std::int64_t>(static_cast<double>(elapsed.count()) * share));
  }
  if (!job.empty()) progress.jobs.emplace_back(job);
  return progress;
}

std::string FormatProgress(const Progress& progress, int columns) {
  std::string text = fmt::format("{}/{} {}", progress.finished, progress.total, progress.what);
  if (progress.running > 0) text += fmt::format(", {} running", progress.running);
  text += fmt::format(", {} elapsed",
                      Clockwork(std::chrono::floor<std::chrono::seconds>(progress.elapsed)));
  if (progress.stopping) {
    text += ", stopping";
  } else if (progress.remaining && progress.finished < progress.total) {
    const auto left = std::chrono::ceil<std::chrono::seconds>(*progress.remaining);
    text += fmt::format(", about {} left", Clockwork(std::max(left, std::chrono::seconds(1))));
  }
  if (!progress.jobs.empty()) {
    text += fmt::format(": {}", TerminalSafe(fmt::format("{}", fmt::join(progress.jobs, " "))));
  }
  return Shortened(std::move(text), columns);
}

bool ProgressPace::Due(const Progress& progress) {
  if (what_.empty()) what_ = progress.what;
  if (progress.finished >= progress.total) return false;
  const int quarters = progress.what == what_ ? 4 * progress.finished / progress.total : quarters_;
  const bool due =
      quarters > quarters_ || progress.elapsed - last_ >= std::max(kInterval, last_ / kSlowing);
  if (!due) return false;
  quarters_ = std::max(quarters_, quarters);
  last_ = progress.elapsed;
  return true;
}

ProgressStyle ProgressStyleHere(bool quiet, bool plain) {
  if (quiet) return ProgressStyle::kNone;
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  const bool rewrites = ::isatty(STDERR_FILENO) != 0 && !plain && !dumb && !IsSet("NO_COLOR");
  return rewrites ? ProgressStyle::kRewrite : ProgressStyle::kLog;
}

int TerminalColumns(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kTerminalColumns;
}

void ProgressLine::Show(const Progress& progress) {
  if (style_ == ProgressStyle::kRewrite) {
    ShowStatusLine(FormatProgress(progress, TerminalColumns(STDERR_FILENO)));
  } else if (style_ == ProgressStyle::kLog && pace_.Due(progress)) {
    LogInfo(FormatProgress(progress, kLogColumns));
  }
}

void ProgressLine::Clear() {
  if (style_ == ProgressStyle::kRewrite) ClearStatusLine();
}

}  // namespace rharness
