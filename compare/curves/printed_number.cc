// Numbers with the place of their last digit, and the spellings of missing numbers.
#include "compare/curves/printed_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <utility>

#include "harness/base/files.h"

namespace rharness {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kFullDigits = 16;
constexpr int kMaxExponent = 308;  // of a double
constexpr std::size_t kMaxQuoted = 40;

// Bare NaN becomes this JSON string of the same length, so that byte offsets in errors stay true.
constexpr std::string_view kBareNan = "\"n\"";

std::optional<double> NonFiniteOf(std::string_view text) {
  if (text.size() > 9) return std::nullopt;
  std::string word;
  for (const char c : text) word += (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
  for (const std::string_view name : {"nan", "+nan", "-nan", "none", "null", "na", "n/a"}) {
    if (word == name) return kNan;
  }
  for (const std::string_view name : {"inf", "+inf", "infinity", "+infinity"}) {
    if (word == name) return kInfinity;
  }
  if (word == "-inf" || word == "-infinity") return -kInfinity;
  return std::nullopt;
}

// The place of a decimal text that is known to be a number.
int PlaceOf(std::string_view text) {
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  int exponent = 0;
  if (e < text.size()) {
    std::string_view digits = text.substr(e + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  }
  exponent = std::clamp(exponent, -kMaxExponent, kMaxExponent);
  const std::string_view mantissa = text.substr(0, e);
  const std::size_t point = mantissa.find('.');
  const std::size_t decimals = point == mantissa.npos ? 0 : mantissa.size() - point - 1;
  int significant = 0;
  for (const char c : mantissa) {
    if (c >= '0' && c <= '9' && (significant > 0 || c != '0')) ++significant;
  }
  if (significant >= kFullDigits) return kFullPrecision;
  return exponent - static_cast<int>(std::min<std::size_t>(decimals, kMaxExponent));
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Writes `mark` over the words outside of strings; the rest of the word turns to blanks.
void ReplaceBare(std::string* text, std::string_view word, std::string_view mark) {
  bool in_string = false;
  for (std::size_t i = 0; i < text->size(); ++i) {
    const char c = (*text)[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && c == word[0] && text->compare(i, word.size(), word) == 0) {
      std::fill_n(text->begin() + static_cast<std::ptrdiff_t>(i), word.size(), ' ');
      text->replace(i, mark.size(), mark);
      i += word.size() - 1;
    }
  }
}

}  // namespace

std::optional<PrintedNumber> ParsePrinted(std::string_view text) {
  text = Trim(text);
  if (text.empty()) return std::nullopt;
  if (const auto special = NonFiniteOf(text)) return PrintedNumber{*special, 0};
  std::string_view digits = text;
  if (digits.ends_with('%')) digits = Trim(digits.substr(0, digits.size() - 1));
  if (digits.starts_with('+') && digits.size() > 1 && digits[1] != '-') digits.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (!std::isfinite(value)) return std::nullopt;
  return PrintedNumber{value, PlaceOf(digits)};
}

std::optional<PrintedNumber> PrintedOf(const Json& json) {
  switch (json.kind()) {
    case Json::Kind::kNull:
      return PrintedNumber{kNan, 0};
    case Json::Kind::kInt:
    case Json::Kind::kUnsigned:
    case Json::Kind::kBigInt:
      return PrintedNumber{*json.ToDouble(), 0};
    case Json::Kind::kString: {
      const auto special =
          json.AsString() == kBareNan.substr(1, 1) ? kNan : NonFiniteOf(json.AsString());
      if (!special) return std::nullopt;
      return PrintedNumber{*special, 0};
    }
    case Json::Kind::kDouble: {
      const double value = *json.ToDouble();
      std::array<char, 32> text{};
      const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
      const int place = PlaceOf({text.data(), static_cast<std::size_t>(end - text.data())});
      // The shortest form of 100000 is 1e+05, which does not show how it was printed.
      return PrintedNumber{value, std::min(place, 0)};
    }
    default:
      return std::nullopt;
  }
}

std::optional<PrintedNumber> NumberOf(const Json& json) {
  const auto number = PrintedOf(json);
  const bool text = !number && json.kind() == Json::Kind::kString;
  return text ? ParsePrinted(json.AsString()) : number;
}

std::string_view NounOf(const Json& json) {
  return json.kind() == Json::Kind::kString ? "text" : json.KindName();
}

Result<Json> ParseJsonWithNonFinite(std::string_view text, std::string_view file) {
  if (text.find("NaN") == text.npos && text.find("Infinity") == text.npos) {
    return ParseJson(text, file);
  }
  std::string copy(text);
  ReplaceBare(&copy, "NaN", kBareNan);
  ReplaceBare(&copy, "-Infinity", "\"-inf\"");
  ReplaceBare(&copy, "Infinity", "\"inf\"");
  return ParseJson(copy, file);
}

std::string ExcerptForError(std::string_view text) {
  const bool cut = text.size() > kMaxQuoted;
  std::size_t end = std::min(text.size(), kMaxQuoted);
  while (cut && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return TerminalSafe(text.substr(0, end)) + (cut ? "..." : "");
}

std::string QuoteForError(std::string_view text) {
  return fmt::format("'{}'", ExcerptForError(text));
}

std::optional<double> NumberOfText(std::string_view text) {
  double sign = 1.0;
  if (text.starts_with('-')) sign = -1.0;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  std::string lower(text.substr(0, 16));
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (lower == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (lower == "inf" || lower == "infinity") return sign * std::numeric_limits<double>::infinity();
  if (text.empty() || (text.front() != '.' && (text.front() < '0' || text.front() > '9'))) {
    return std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return sign * value;
}

}  // namespace rharness
