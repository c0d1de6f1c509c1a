// Inputs of a method of the calculator, and their checked values.
//
// Role: declarations such as "alpha: a number between 0 and 1", and the reading of a JSON object
// against them. A method sees only values that keep to its declaration; it checks relations between
// two inputs (x at most n) itself.
#ifndef RHARNESS_COMPARE_METHODS_INPUTS_H_
#define RHARNESS_COMPARE_METHODS_INPUTS_H_

#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/result.h"

namespace rharness {

struct Range {
  double low = -std::numeric_limits<double>::max();
  double high = std::numeric_limits<double>::max();
  bool low_is_out = false;  // the end itself is outside
  bool high_is_out = false;

  bool Holds(double value) const;  // false for NaN
  std::string ToString() const;    // "between 0 and 1, both excluded"
};

inline constexpr Range kAnyNumber{};
inline constexpr Range kPositive{.low = 0.0, .low_is_out = true};
inline constexpr Range kNotNegative{.low = 0.0};
inline constexpr Range kBetween0And1{0.0, 1.0, true, true};
inline constexpr Range kFrom0To1{0.0, 1.0};
inline constexpr Range kErrorRate{0.0, 0.5, true, true};
// NaN and the infinities as well: values as runs reported them.
inline constexpr Range kAnything{.low = -std::numeric_limits<double>::infinity(),
                                 .high = std::numeric_limits<double>::infinity()};
inline constexpr double kMostTrials = 1e9;
inline constexpr std::size_t kMostValues = 100000;

struct InputSpec {
  enum class Kind { kNumber, kCount, kNumbers, kCounts, kText, kFlag };
  std::string name;
  Kind kind = Kind::kNumber;
  std::string meaning;  // with its unit
  Range range;          // of the number, of the count or of each of the numbers
  std::size_t fewest = 1;
  std::size_t most = kMostValues;  // numbers in the list
  std::vector<std::string> words;  // of a text; empty: any
  bool required = true;

  InputSpec Optional() const;
  std::string Expected() const;  // "a whole number from 1 to 10"
};

InputSpec NumberInput(std::string name, std::string meaning, Range range);
InputSpec CountInput(std::string name, std::string meaning, double low, double high);
// A list, or {"first": a, "pairs": [b, c], "npairs": r} for a, b, c, b, c, ...
InputSpec NumbersInput(std::string name, std::string meaning, Range range, std::size_t fewest,
                       std::size_t most = kMostValues);
InputSpec CountsInput(std::string name, std::string meaning, double low, double high,
                      std::size_t most);
InputSpec TextInput(std::string name, std::string meaning, std::vector<std::string> words);
InputSpec FlagInput(std::string name, std::string meaning);

class Inputs {
 public:
  // Errors: invalid_input, with the JSON path and what was expected there, for an absent, unknown
  // or unfitting member.
  static Result<Inputs> Read(const Json& object, const std::vector<InputSpec>& specs);

  bool Has(std::string_view name) const;
  // These abort for an undeclared name; optional names need Has() first.
  double Number(std::string_view name) const;
  double NumberOr(std::string_view name, double fallback) const;
  int Count(std::string_view name) const;
  const std::vector<double>& List(std::string_view name) const;
  std::vector<int> Counts(std::string_view name) const;
  const std::string& Text(std::string_view name) const;
  bool Flag(std::string_view name) const;

 private:
  Status ReadMember(const InputSpec& spec, const Json& value);

  std::map<std::string, double, std::less<>> numbers_;
  std::map<std::string, std::vector<double>, std::less<>> lists_;
  std::map<std::string, std::string, std::less<>> texts_;
  std::map<std::string, bool, std::less<>> flags_;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_METHODS_INPUTS_H_
