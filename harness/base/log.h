// Messages for people, on stderr; stdout is for data. One line per message, "rharness: LEVEL: ...".
#ifndef RHARNESS_HARNESS_BASE_LOG_H_
#define RHARNESS_HARNESS_BASE_LOG_H_

#include <string_view>

namespace rharness {

enum class LogLevel { kQuiet, kError, kWarning, kInfo, kDebug };

void SetLogLevel(LogLevel level);
void LogError(std::string_view message);
void LogWarning(std::string_view message);
void LogInfo(std::string_view message);
void LogDebug(std::string_view message);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_LOG_H_
