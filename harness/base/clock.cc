// The machine's clock, and times as RFC 3339 text.
#include "harness/base/clock.h"

#include <fmt/format.h>
#include <time.h>

#include <cctype>
#include <cmath>
#include <optional>
#include <thread>

namespace rharness {
namespace {

class RealClock : public Clock {
 public:
  WallTime Now() override {
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  }
  std::chrono::nanoseconds Monotonic() override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }
  void SleepFor(std::chrono::nanoseconds span) override { std::this_thread::sleep_for(span); }
};

// Reads exactly `digits` digits at *position and moves past them.
std::optional<int> Digits(std::string_view text, std::size_t digits, std::size_t* position) {
  if (*position + digits > text.size()) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const char c = text[*position + i];
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  *position += digits;
  return value;
}

bool Skip(std::string_view text, char a, char b, std::size_t* position) {
  if (*position >= text.size() || (text[*position] != a && text[*position] != b)) return false;
  ++*position;
  return true;
}

// "" or a point and digits; those after the third are cut off.
std::optional<std::chrono::milliseconds> Fraction(std::string_view text, std::size_t* position) {
  std::chrono::milliseconds result{0};
  if (!Skip(text, '.', '.', position)) return result;
  const std::size_t first = *position;
  int scale = 100;
  while (*position < text.size() && std::isdigit(static_cast<unsigned char>(text[*position]))) {
    result += std::chrono::milliseconds((text[*position] - '0') * scale);
    scale /= 10;
    ++*position;
  }
  if (*position == first) return std::nullopt;
  return result;
}

// "Z" or "+hh:mm"; the offset from UTC.
std::optional<std::chrono::minutes> Offset(std::string_view text, std::size_t* position) {
  if (Skip(text, 'Z', 'z', position)) return std::chrono::minutes(0);
  if (*position >= text.size()) return std::nullopt;
  const char sign = text[*position];
  if (!Skip(text, '+', '-', position)) return std::nullopt;
  const auto hours = Digits(text, 2, position);
  Skip(text, ':', ':', position);
  const auto minutes = Digits(text, 2, position);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const std::chrono::minutes offset(*hours * 60 + *minutes);
  return sign == '-' ? -offset : offset;
}

std::optional<WallTime> ReadTime(std::string_view text) {
  std::size_t at = 0;
  const auto year = Digits(text, 4, &at);
  if (!year || !Skip(text, '-', '-', &at)) return std::nullopt;
  const auto month = Digits(text, 2, &at);
  if (!month || !Skip(text, '-', '-', &at)) return std::nullopt;
  const auto day = Digits(text, 2, &at);
  if (!day || !(Skip(text, 'T', 't', &at) || Skip(text, ' ', ' ', &at))) return std::nullopt;
  const auto hour = Digits(text, 2, &at);
  if (!hour || !Skip(text, ':', ':', &at)) return std::nullopt;
  const auto minute = Digits(text, 2, &at);
  if (!minute || !Skip(text, ':', ':', &at)) return std::nullopt;
  const auto second = Digits(text, 2, &at);
  if (!second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const auto fraction = Fraction(text, &at);
  const auto offset = Offset(text, &at);
  if (!fraction || !offset || at != text.size()) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  const WallTime time = WallTime(std::chrono::sys_days(date)) + std::chrono::hours(*hour) +
                        std::chrono::minutes(*minute) + std::chrono::seconds(*second) + *fraction -
                        *offset;
  // In UTC the year must still have four digits, or FormatTime could not write it.
  const std::chrono::year_month_day utc{std::chrono::floor<std::chrono::days>(time)};
  if (utc.year() < std::chrono::year(0) || utc.year() > std::chrono::year(9999)) {
    return std::nullopt;
  }
  return time;
}

}  // namespace

Clock& SystemClock() {
  static RealClock* clock = new RealClock;
  return *clock;
}

std::string FormatTime(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

Result<WallTime> ParseTime(std::string_view text) {
  const auto time = ReadTime(text);
  if (!time) {
    return InvalidInput(
        fmt::format("'{}' is no time; expected RFC 3339, such as 2026-11-20T08:03:00.000Z",
                    text.substr(0, 40)));
  }
  return *time;
}

std::string FormatDuration(Seconds seconds) {
  const double value = seconds.count();
  constexpr double kLongest = 1e15;  // beyond it llround could overflow, and nothing lasts as long
  if (!(value >= 0 && value <= kLongest)) return "unknown";
  if (value > 0 && value < 0.0995) return fmt::format("{:.0f} ms", std::max(1.0, value * 1e3));
  if (value < 9.95) return fmt::format("{:.1f} s", value);
  const auto whole = static_cast<long long>(std::llround(value));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
  return fmt::format("{} d {} h", whole / 86400, whole % 86400 / 3600);
}

}  // namespace rharness
