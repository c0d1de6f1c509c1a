// Times of day, and nothing of dates: a day on which clocks change has its hours twice or never.
#include "harness/execution/dispatch/quiet_hours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <ctime>
#include <optional>

#include "harness/base/files.h"

namespace rharness {
namespace {

constexpr std::chrono::minutes kDay = std::chrono::hours(24);

// "HH:MM" up to 24:00.
std::optional<std::chrono::minutes> ParseTimeOfDay(std::string_view text) {
  const auto digit = [&](std::size_t at) {
    return std::isdigit(static_cast<unsigned char>(text[at])) != 0 ? text[at] - '0' : 100;
  };
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  const int hours = 10 * digit(0) + digit(1);
  const int minutes = 10 * digit(3) + digit(4);
  const auto time = std::chrono::hours(hours) + std::chrono::minutes(minutes);
  if (minutes > 59 || time > kDay) return std::nullopt;
  return time;
}

}  // namespace

Result<QuietHours> ParseQuietHours(std::string_view text) {
  const auto dash = text.find('-');
  const auto begin = ParseTimeOfDay(text.substr(0, dash));
  const auto end = dash == text.npos ? std::nullopt : ParseTimeOfDay(text.substr(dash + 1));
  if (!begin || !end || *begin == *end || *begin == kDay) {
    return InvalidInput(fmt::format("'{}' is not two times of a day, such as 08:00-18:00",
                                    TerminalSafe(text.substr(0, 80))),
                        "--quiet-hours");
  }
  return QuietHours{*begin, *end};
}

bool IsQuiet(const std::vector<QuietHours>& quiet, std::chrono::minutes since_midnight) {
  return std::ranges::any_of(quiet, [&](const QuietHours& hours) {
    const bool begun = since_midnight >= hours.begin;
    const bool before_end = since_midnight < hours.end;
    return hours.begin < hours.end ? begun && before_end : begun || before_end;
  });
}

std::chrono::minutes LocalMinute(WallTime now) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(
      std::chrono::time_point_cast<std::chrono::system_clock::duration>(now));
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return std::chrono::hours(local.tm_hour) + std::chrono::minutes(local.tm_min);
}

}  // namespace rharness
