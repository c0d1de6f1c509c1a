// Collects points of several curves as a reader comes across them.
//
// Role: the rules that hold for every format: steps increase, and everything has a bound.
#ifndef RHARNESS_COMPARE_CURVES_CURVE_BUILDER_H_
#define RHARNESS_COMPARE_CURVES_CURVE_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/curves/printed_number.h"
#include "compare/curves/series.h"
#include "harness/base/result.h"

namespace rharness {

inline constexpr std::size_t kMaxCurves = 10'000;
inline constexpr std::size_t kMaxCurveNameBytes = 1024;
inline constexpr std::size_t kMaxValuesAtOneStep = 100;               // of one name
inline constexpr std::size_t kMaxCurvePoints = std::size_t{1} << 24;  // of all curves together

// What a log holds beside numbers, by name: "text", "array", "histogram or other data".
using NoNumbers = std::map<std::string, std::string, std::less<>>;
// "FILE: what is no number is not compared: 'phase' (text)"; ten names at most.
std::string NotCompared(std::string_view file, const NoNumbers& what);

std::string TooManyAtOneStep(std::string_view name, std::int64_t step);

class CurveBuilder {
 public:
  // Without `restarts` steps must increase. With it, a step that does not come after the last one
  // continues the curve from there, as a program does that was restarted: the later value counts.
  // Where steps are there twice in a row, as in a log of two phases, the second value of each is of
  // a curve "NAME #2", and so on; a value that is the same again does not count, and one step alone
  // that is there twice is that of a restart. Finish appends a sentence for each such curve, 20 at
  // most.
  explicit CurveBuilder(std::vector<std::string>* restarts = nullptr) : restarts_(restarts) {}

  // The curve of this name; a new name makes a new curve. Error: invalid_input without a place.
  Result<std::size_t> IndexOf(std::string_view name);
  bool Has(std::string_view name) const { return index_.contains(name); }

  // Adds a point. Returns its defect, if any: a step that does not come after the last one, or too
  // many points, in all or at one step. The caller knows the place.
  std::optional<std::string> Add(std::size_t curve, std::int64_t step, PrintedNumber number);

  // A value that is no point: `what` it is, "text" or "array". Its name is in a sentence of Finish.
  // A curve of that name is none, and its values are left out.
  void PassOver(std::string_view name, std::string_view what);
  bool IsPassedOver(std::string_view name) const { return passed_over_.contains(name); }

  // In the order of first use. Error: invalid_input when there is no curve.
  Result<std::vector<CurveSeries>> Finish(std::string_view file) &&;

 private:
  std::optional<std::string> AddAgain(std::size_t curve, double value);
  void FinishRepeats(std::string_view file);

  std::map<std::string, std::size_t, std::less<>> index_;
  std::vector<CurveSeries> curves_;
  std::vector<std::optional<int>> places_;  // of the finest place so far
  struct Dropped {
    std::size_t points = 0;
    std::int64_t first_step = 0;
  };
  std::map<std::size_t, Dropped> dropped_;  // by curve
  struct Repeats {
    std::size_t at_step = 0;          // further values at the last step
    std::vector<CurveSeries> levels;  // the second values of steps, the third, ...
  };
  std::map<std::size_t, Repeats> repeats_;  // by curve
  NoNumbers passed_over_;
  std::vector<std::string>* restarts_;
  std::size_t points_ = 0;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_CURVE_BUILDER_H_
