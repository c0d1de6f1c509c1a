// What values may look like, and what is said of one that does not.
#include "harness/cli/option.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "harness/base/result.h"

namespace rharness {
namespace {

template <class Number>
std::optional<Number> ParseWhole(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string CheckUnsigned(std::string* text) {
  if (ParseWhole<std::uint64_t>(*text)) return "";
  return fmt::format("'{}' is no number from 0 to 2^64 - 1", *text);
}

std::string CheckFromZero(std::string* text) {
  const auto value = ParseWhole<double>(*text);
  if (value && std::isfinite(*value) && *value >= 0) return "";
  return fmt::format("'{}' is no finite number from 0 on", *text);
}

std::string CheckPositive(std::string* text) {
  const auto value = ParseWhole<double>(*text);
  if (value && std::isfinite(*value) && *value > 0) return "";
  return fmt::format("'{}' is no finite number above 0", *text);
}

std::size_t UnitAt(std::string_view text) {
  return static_cast<std::size_t>(
      std::find_if(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c) != 0; }) -
      text.begin());
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// 30 for "gib", "gb", "gi" and "g".
std::optional<int> ShiftOf(std::string_view unit) {
  constexpr std::string_view kLetters = "kmgtpe";
  if (unit.empty() || unit == "b") return 0;
  const auto letter = kLetters.find(unit.front());
  const std::string_view rest = unit.substr(1);
  if (letter == kLetters.npos || (rest != "" && rest != "b" && rest != "i" && rest != "ib")) {
    return std::nullopt;
  }
  return 10 * (static_cast<int>(letter) + 1);
}

std::string CheckSize(std::string* text) {
  const std::size_t at = UnitAt(*text);
  std::string_view digits = std::string_view(*text).substr(0, at);
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  const auto value = ParseWhole<std::uint64_t>(digits);
  const std::string unit = Lower(std::string_view(*text).substr(at));
  const auto shift = ShiftOf(unit);
  if (!value || !shift || (unit.empty() && *value != 0)) {
    return fmt::format(
        "'{}' is no size; expected a whole number with its unit (B, KiB, MiB, GiB, TiB), such as "
        "16GiB",
        *text);
  }
  if (*value > std::numeric_limits<std::uint64_t>::max() >> *shift) {
    return fmt::format("'{}' is more than 2^64 - 1 bytes", *text);
  }
  *text = std::to_string(*value << *shift);
  return "";
}

struct UnitFacts {
  std::string_view letter;
  std::string_view plural;
  double seconds;
};

UnitFacts FactsOf(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSeconds:
      return {"s", "seconds", 1.0};
    case TimeUnit::kHours:
      return {"h", "hours", 3600.0};
    case TimeUnit::kDays:
      return {"d", "days", 86400.0};
  }
  Abort("unknown TimeUnit");
}

OptionFacts::Check DurationCheck(TimeUnit unit, bool whole) {
  return [unit, whole](std::string* text) -> std::string {
    const auto value = ParseDuration(*text, unit);
    if (!value) {
      return fmt::format(
          "'{}' is no time; expected a number with its unit (s, m, h, d), such as 30s, 90m, 1.5h "
          "or "
          "7d",
          *text);
    }
    if (whole && (*value != std::floor(*value) || *value > std::numeric_limits<int>::max())) {
      return fmt::format("'{}' is no whole number of {}, or too many", *text, FactsOf(unit).plural);
    }
    *text = whole ? std::to_string(static_cast<int>(*value)) : fmt::format("{}", *value);
    return "";
  };
}

std::string TypeWord(const OptionFacts::Target& target) {
  struct Words {
    std::string operator()(bool*) const { return ""; }
    std::string operator()(int*) const { return "INT"; }
    std::string operator()(std::uint64_t*) const { return "UINT"; }
    std::string operator()(std::optional<std::uint64_t>*) const { return "UINT"; }
    std::string operator()(double*) const { return "FLOAT"; }
    std::string operator()(std::string*) const { return "TEXT"; }
    std::string operator()(std::filesystem::path*) const { return "TEXT"; }
    std::string operator()(std::vector<std::string>*) const { return "TEXT"; }
  };
  return std::visit(Words(), target);
}

bool IsUnsigned(const OptionFacts::Target& target) {
  return std::holds_alternative<std::uint64_t*>(target) ||
         std::holds_alternative<std::optional<std::uint64_t>*>(target);
}

}  // namespace

std::vector<std::string> OptionFacts::Names() const {
  std::vector<std::string> all;
  std::string_view rest = names;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    all.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return all;
}

std::string OptionFacts::LongName() const { return Names().back(); }

std::string OptionFacts::ValueWord() const { return value.empty() ? TypeWord(target) : value; }

std::string OptionFacts::TargetText() const {
  struct Texts {
    std::string operator()(bool*) const { return ""; }
    std::string operator()(int* value) const { return std::to_string(*value); }
    std::string operator()(std::uint64_t* value) const { return std::to_string(*value); }
    std::string operator()(std::optional<std::uint64_t>* value) const {
      return *value ? std::to_string(**value) : "";
    }
    std::string operator()(double* value) const { return fmt::format("{}", *value); }
    std::string operator()(std::string* value) const { return *value; }
    std::string operator()(std::filesystem::path* value) const { return value->string(); }
    std::string operator()(std::vector<std::string>*) const { return ""; }
  };
  return std::visit(Texts(), target) + unit;
}

Option::Option(std::string names, OptionFacts::Target target, std::string help)
    : facts_{.names = std::move(names), .target = target, .help = std::move(help)} {
  // What parses them would wrap or saturate signs and numbers above 2^64 - 1.
  if (IsUnsigned(target)) Check(CheckUnsigned);
}

Option& Option::Required() {
  facts_.required = true;
  return *this;
}

Option& Option::ShowDefault() {
  facts_.shows_default = true;
  return *this;
}

Option& Option::OneEach() {
  facts_.one_each = true;
  return *this;
}

Option& Option::Env(std::string variable) {
  facts_.env = std::move(variable);
  return *this;
}

Option& Option::Group(std::string heading) {
  facts_.group = std::move(heading);
  return *this;
}

Option& Option::Value(std::string word) {
  facts_.value = std::move(word);
  return *this;
}

Option& Option::File(std::string word) {
  facts_.completes = Completes::kFiles;
  return Value(std::move(word));
}

Option& Option::Folder(std::string word) {
  facts_.completes = Completes::kFolders;
  return Value(std::move(word));
}

Option& Option::Path(std::string word) { return File(std::move(word)); }

Option& Option::Choices(std::vector<std::string> choices) {
  facts_.choices = std::move(choices);
  const std::string list = fmt::format("{{{}}}", fmt::join(facts_.choices, ","));
  Check([known = facts_.choices, list](std::string* text) -> std::string {
    if (std::ranges::find(known, *text) != known.end()) return "";
    return fmt::format("{} not in {}", *text, list);
  });
  return Label(list);
}

Option& Option::Offer(std::vector<std::string> words) {
  facts_.choices = std::move(words);
  return *this;
}

Option& Option::Between(double least, double most) {
  const bool whole = std::holds_alternative<int*>(facts_.target);
  Check([least, most, whole](std::string* text) -> std::string {
    const auto value =
        whole ? std::optional<double>(ParseWhole<int>(*text)) : ParseWhole<double>(*text);
    if (value && *value >= least && *value <= most) return "";
    return fmt::format("Value {} not in range {} to {}", *text, least, most);
  });
  return Label(fmt::format("{} in [{} - {}]", TypeWord(facts_.target), least, most));
}

Option& Option::FromZero() { return Check(CheckFromZero).Label(TypeWord(facts_.target) + " >= 0"); }

Option& Option::Positive() { return Check(CheckPositive).Label(TypeWord(facts_.target) + " > 0"); }

Option& Option::NotEmpty() {
  return Check(
      [](std::string* text) -> std::string { return text->empty() ? "names nothing" : ""; });
}

Option& Option::Size() {
  facts_.checks = {CheckSize};
  return Value("SIZE");
}

Option& Option::Duration(TimeUnit unit) {
  facts_.help += " (30s, 90m, 1.5h, 7d)";
  facts_.unit = FactsOf(unit).letter;
  return Value("TIME").Check(DurationCheck(unit, std::holds_alternative<int*>(facts_.target)));
}

Option& Option::Check(OptionFacts::Check check) {
  facts_.checks.push_back(std::move(check));
  return *this;
}

Option& Option::Label(const std::string& label) {
  facts_.label += (facts_.label.empty() ? "" : ":") + label;
  return *this;
}

std::optional<double> ParseDuration(std::string_view text, TimeUnit unit) {
  const double unit_seconds = FactsOf(unit).seconds;
  if (const auto bare = ParseWhole<double>(text)) {
    return *bare == 0.0 ? bare : std::nullopt;
  }
  constexpr std::pair<char, double> kUnits[] = {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};
  const auto* next = std::begin(kUnits);
  double seconds = 0.0;
  while (!text.empty()) {
    const std::size_t at = UnitAt(text);
    const auto number = ParseWhole<double>(text.substr(0, at));
    if (!number || *number < 0 || at == text.size()) return std::nullopt;
    // Each unit once, the largest first: 1h30m, and neither 30m1h nor 1h1h.
    const auto* found = std::find_if(next, std::end(kUnits),
                                     [&](const auto& known) { return known.first == text[at]; });
    if (found == std::end(kUnits)) return std::nullopt;
    seconds += *number * found->second;
    next = found + 1;
    text.remove_prefix(at + 1);
  }
  if (next == std::begin(kUnits) || !std::isfinite(seconds)) return std::nullopt;
  return seconds / unit_seconds;
}

}  // namespace rharness
