// A number as a log printed it: its value and its last decimal place.
//
// Role: shared by the readers of this folder.
#ifndef RHARNESS_COMPARE_CURVES_PRINTED_NUMBER_H_
#define RHARNESS_COMPARE_CURVES_PRINTED_NUMBER_H_

#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

// The place of a number printed at the full precision of a double: 16 significant digits or more.
inline constexpr int kFullPrecision = std::numeric_limits<int>::min();

struct PrintedNumber {
  double value = 0.0;  // NaN for "nan", null and the like
  int place = 0;       // one unit of the last place is 10^place; only for finite values
};

// A cell or word. Besides decimal numbers: nan, inf, infinity, none, null, na, n/a in any case,
// with a sign, and percent ("12.5%" is 12.5). Empty if it is no number at all, or beyond a double.
std::optional<PrintedNumber> ParsePrinted(std::string_view text);

// A decimal number at full precision; "nan", "inf" and "infinity" in any case, too, with a sign, as
// trackers write them. Empty for all else.
std::optional<double> NumberOfText(std::string_view text);

// A JSON number by its shortest decimal form (integers have place 0), null, or a string of the
// above that is no plain number.
std::optional<PrintedNumber> PrintedOf(const Json& json);

// The same, and of a string that is wholly a number.
std::optional<PrintedNumber> NumberOf(const Json& json);
// What a value that is no number is: "text", "array", "object".
std::string_view NounOf(const Json& json);

// ParseJson that also reads the bare NaN, Infinity and -Infinity that several languages write.
Result<Json> ParseJsonWithNonFinite(std::string_view text, std::string_view file);

// Untrusted text for an error message: at most 40 bytes, safe on a terminal; and in quotes.
std::string ExcerptForError(std::string_view text);
std::string QuoteForError(std::string_view text);

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_PRINTED_NUMBER_H_
