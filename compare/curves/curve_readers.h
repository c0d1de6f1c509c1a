// One reader a format, each from text to curves.
//
// Role: private to this folder; curve_files.cc chooses. `text` has no byte order mark. Errors:
// invalid_input with "FILE: line N" or the JSON path.
#ifndef RHARNESS_COMPARE_CURVES_CURVE_READERS_H_
#define RHARNESS_COMPARE_CURVES_CURVE_READERS_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compare/curves/printed_number.h"
#include "compare/curves/series.h"
#include "harness/base/result.h"

namespace rharness {

// What a step may be called, in order of preference.
inline constexpr std::array<std::string_view, 5> kStepNames = {"step", "_step", "iteration",
                                                               "global_step", "epoch"};
inline constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

// json_curves.cc
Result<std::vector<CurveSeries>> ParseMegatronGolden(std::string_view text, std::string_view file);
Result<std::vector<CurveSeries>> ParseRunMetricCurves(std::string_view text, std::string_view file);
Result<std::vector<CurveSeries>> ParseTrainerState(std::string_view text, std::string_view file);
Result<std::vector<CurveSeries>> ParseJsonArrays(std::string_view text, std::string_view file,
                                                 std::vector<std::string>* remarks);
// line_curves.cc; `restarts`: see CurveBuilder; `step`: see ParseCurves
Result<std::vector<CurveSeries>> ParseJsonLines(std::string_view text, std::string_view file,
                                                std::vector<std::string>* restarts,
                                                std::string_view step);
Result<std::vector<CurveSeries>> ParseMllogCurves(std::string_view text, std::string_view file);
// csv_curves.cc
Result<std::vector<CurveSeries>> ParseCsv(std::string_view text, std::string_view file,
                                          std::vector<std::string>* restarts,
                                          std::string_view step);
// tensorboard.cc
Result<std::vector<CurveSeries>> ParseEventFile(std::string_view text, std::string_view file,
                                                std::vector<std::string>* remarks);

// What separates the cells below this header line: a tab if it has one; else a semicolon, if it has
// more of them than commas, quoted ones aside; else a comma.
char SeparatorOf(std::string_view header);
// ParsePrinted; where semicolons separate, a decimal comma is read, too, as spreadsheets of many
// languages and R's write.csv2 write it.
std::optional<PrintedNumber> NumberOfCell(std::string_view cell, char separator);
// Cells of one line (RFC 4180: quotes, doubled quotes inside them), without the blanks that pad
// cells outside of quotes. Empty when a quoted cell does not end on this line, or text follows its
// closing quote. Stops after `most` + 1 cells.
std::optional<std::vector<std::string>> SplitCsvLine(std::string_view line, std::size_t most,
                                                     char separator = ',');

// Lines by number, without their ends ("\n" or "\r\n").
class LineReader {
 public:
  LineReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}
  // false at the end.
  bool Next(std::string_view* line);
  std::size_t number() const { return number_; }  // from 1
  std::string Where() const { return WhereOf(number_); }
  std::string WhereOf(std::size_t number) const;  // "FILE: line N"
  Error Fail(std::string message) const;

 private:
  std::string_view text_;
  std::string_view file_;
  std::size_t number_ = 0;
};

}  // namespace rharness

#endif  // RHARNESS_COMPARE_CURVES_CURVE_READERS_H_
