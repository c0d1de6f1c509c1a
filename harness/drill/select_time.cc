// Ages with a unit.
#include "harness/drill/select_time.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

namespace rharness {

std::optional<WallTime> Resolve(const When& when, WallTime now) {
  if (const auto* time = std::get_if<WallTime>(&when)) return *time;
  if (const auto* ago = std::get_if<std::chrono::milliseconds>(&when)) return now - *ago;
  return std::nullopt;
}

std::optional<std::chrono::milliseconds> ParseAgo(std::string_view text) {
  constexpr std::array<std::pair<char, std::int64_t>, 5> kUnits = {
      {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 7 * 86400}}};
  constexpr std::int64_t kMaxSeconds = std::int64_t{10000} * 366 * 86400;
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end + 1 != text.data() + text.size() || count < 0) {
    return std::nullopt;
  }
  for (const auto& [letter, seconds] : kUnits) {
    if (*end != letter) continue;
    if (count > kMaxSeconds / seconds) return std::nullopt;
    return std::chrono::seconds(count * seconds);
  }
  return std::nullopt;
}

}  // namespace rharness
