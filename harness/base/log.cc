// Writes messages to stderr, one write a line so that threads do not mix.
#include "harness/base/log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>

#include "harness/base/files.h"

namespace rharness {
namespace {

std::atomic<LogLevel> g_level{LogLevel::kInfo};

void Write(LogLevel level, std::string_view label, std::string_view message) {
  if (level > g_level.load()) return;
  // A line break in a stranger's text would let it write messages of its own.
  std::string text;
  for (const char c : TerminalSafe(message)) {
    if (c == '\n') {
      text += "\\x0a";
    } else {
      text.push_back(c);
    }
  }
  const std::string line = fmt::format("rharness: {}{}\n", label, text);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

void SetLogLevel(LogLevel level) { g_level = level; }
void LogError(std::string_view message) { Write(LogLevel::kError, "error: ", message); }
void LogWarning(std::string_view message) { Write(LogLevel::kWarning, "warning: ", message); }
void LogInfo(std::string_view message) { Write(LogLevel::kInfo, "", message); }
void LogDebug(std::string_view message) { Write(LogLevel::kDebug, "debug: ", message); }

}  // namespace rharness
