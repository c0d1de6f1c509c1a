// Differences between two drills as sentences; see history_summary.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "compare/fact_order.h"
#include "reports/history_summary.h"
#include "reports/short_digest.h"
#include "reports/text.h"

namespace rharness {
namespace {

constexpr std::size_t kValueBytes = 160;

bool IsSet(const FactDifference& difference) { return difference.key.starts_with("variable."); }

// As FactName, and "the data 'digits'" for "data.digits.sha256".
std::string TitleOf(std::string_view key) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTitles = {
      {{"code.commit", "the commit"},
       {"cpu.architecture", "the CPU's architecture"},
       {"cpu.isa", "the CPU's instruction sets"},
       {"cpu.logical_cores", "the number of CPU cores"}}};
  for (const auto& [of, title] : kTitles) {
    if (key == of) return std::string(title);
  }
  const auto between = [key](std::string_view start, std::string_view end) {
    const bool fits =
        key.size() > start.size() + end.size() && key.starts_with(start) && key.ends_with(end);
    return fits ? key.substr(start.size(), key.size() - start.size() - end.size())
                : std::string_view();
  };
  if (const auto name = between("data.", ".sha256"); !name.empty()) {
    return fmt::format("the data '{}'", name);
  }
  if (const auto name = between("code.", ".sha256"); !name.empty()) {
    return fmt::format("the code file '{}'", name);
  }
  if (const auto name = between("seed.", ""); !name.empty()) {
    return fmt::format("the seed '{}'", name);
  }
  return FactName(key);
}

std::string ValueOf(std::string_view text) {
  if (text.empty()) return "an empty text";
  return SafeText(ShortDigest(text), kValueBytes);
}

}  // namespace

std::string DifferenceWords(const FactDifference& difference) {
  const std::string title = SafeText(TitleOf(difference.key), kValueBytes);
  const auto& [before, after] = std::pair(difference.recorded, difference.observed);
  if (before && after) {
    return fmt::format("{} went from {} to {}", title, ValueOf(*before), ValueOf(*after));
  }
  if (IsSet(difference)) {
    return after ? fmt::format("{} was not set and is {} now", title, ValueOf(*after))
                 : fmt::format("{} was {} and is not set now", title, ValueOf(before.value_or("")));
  }
  return after ? fmt::format("{} {} was not there before", title, ValueOf(*after))
               : fmt::format("{} {} is gone", title, ValueOf(before.value_or("")));
}

std::vector<std::string> WordsOf(const std::array<LayerComparison, 5>& layers) {
  std::vector<std::string> words;
  for (const LayerComparison& layer : layers) {
    for (const FactDifference& difference : layer.differences) {
      words.push_back(fmt::format("{}: {}", LayerName(layer.layer), DifferenceWords(difference)));
    }
  }
  return words;
}

std::vector<std::string> ChangeWords(bool known, const std::array<LayerComparison, 5>& layers) {
  if (!known) {
    return {"not known: of one of the two drills the history does not hold where it ran"};
  }
  std::vector<std::string> words = WordsOf(layers);
  if (words.empty()) words.emplace_back("nothing that is recorded differs between the two drills");
  return words;
}

std::string FlakyWords(const Steadiness& steadiness) {
  if (steadiness.unexplained == 0) return "";
  return fmt::format(
      "{} of {} times its verdict changed from one drill to the next, although no recorded fact "
      "that "
      "it uses changed",
      FormatCount(steadiness.unexplained), FormatCount(steadiness.steps));
}

}  // namespace rharness
