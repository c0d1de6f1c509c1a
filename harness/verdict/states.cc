// The words of states.
#include "harness/verdict/states.h"

#include <fmt/format.h>

#include <string>

namespace rharness {
namespace {

// In the order of the enumerations.
constexpr std::array<std::string_view, 3> kPartWords = {"had", "unknown", "gone"};
constexpr std::array<std::string_view, 4> kPropertyWords = {"held", "held_within", "lost",
                                                            "not_judged"};
constexpr std::array<std::string_view, 5> kProbeWords = {"ok", "absent", "failed", "crashed",
                                                         "timed_out"};
constexpr std::array<std::string_view, 4> kDirectionWords = {"", "higher", "lower", "none"};

template <class T, std::size_t n>
std::string_view WordOf(const std::array<std::string_view, n>& words, T value) {
  return words.at(static_cast<std::size_t>(value));
}

template <class T, std::size_t n>
Result<T> ValueOf(const std::array<T, n>& values, const std::array<std::string_view, n>& words,
                  std::string_view word) {
  std::string expected;
  for (std::size_t i = 0; i < n; ++i) {
    if (words[i] == word) return values[i];
    if (words[i].empty()) continue;
    expected += fmt::format("{}\"{}\"", expected.empty() ? "" : ", ", words[i]);
  }
  return InvalidInput(fmt::format("expected one of {}, found \"{}\"", expected, word));
}

}  // namespace

std::string_view PartStateName(PartState state) { return WordOf(kPartWords, state); }
std::string_view PropertyStateName(PropertyState state) { return WordOf(kPropertyWords, state); }
std::string_view ProbeStatusName(ProbeStatus status) { return WordOf(kProbeWords, status); }
std::string_view MetricDirectionName(MetricDirection direction) {
  return WordOf(kDirectionWords, direction);
}

Result<PartState> ParsePartState(std::string_view word) {
  return ValueOf(kPartStates, kPartWords, word);
}
Result<PropertyState> ParsePropertyState(std::string_view word) {
  return ValueOf(kPropertyStates, kPropertyWords, word);
}
Result<ProbeStatus> ParseProbeStatus(std::string_view word) {
  return ValueOf(kProbeStatuses, kProbeWords, word);
}
Result<MetricDirection> ParseMetricDirection(std::string_view word) {
  return ValueOf(kDirections, kDirectionWords, word);
}

}  // namespace rharness
