// Messages with their level, through the one pen on stderr.
#include "harness/base/log.h"

#include <fmt/format.h>

#include <atomic>

#include "harness/base/files.h"
#include "harness/base/stderr_line.h"

namespace rharness {
namespace {

std::atomic<LogLevel> g_level{LogLevel::kInfo};

void Write(LogLevel level, std::string_view label, std::string_view message) {
  if (level > g_level.load()) return;
  // A line break in untrusted text could forge messages.
  std::string text;
  for (const char c : TerminalSafe(message)) {
    if (c == '\n') {
      text += "\\x0a";
    } else {
      text.push_back(c);
    }
  }
  WriteMessage(fmt::format("rharness: {}{}\n", label, text));
}

}  // namespace

void SetLogLevel(LogLevel level) { g_level = level; }
void LogError(std::string_view message) { Write(LogLevel::kError, "error: ", message); }
void LogWarning(std::string_view message) { Write(LogLevel::kWarning, "warning: ", message); }
void LogInfo(std::string_view message) { Write(LogLevel::kInfo, "", message); }
void LogDebug(std::string_view message) { Write(LogLevel::kDebug, "debug: ", message); }

}  // namespace rharness
