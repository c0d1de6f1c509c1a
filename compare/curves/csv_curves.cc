// Curves from values separated by commas, semicolons or tabs, with a header line (RFC 4180, one
// record a line).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>

#include "compare/curves/curve_builder.h"
#include "compare/curves/curve_readers.h"

namespace rharness {
namespace {

std::string_view Unpadded(std::string_view cell) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t begin = std::min(cell.find_first_not_of(kBlanks), cell.size());
  cell.remove_prefix(begin);
  return cell.substr(0, cell.find_last_not_of(kBlanks) + 1);
}

}  // namespace

char SeparatorOf(std::string_view header) {
  if (header.find('\t') != header.npos) return '\t';
  std::size_t commas = 0, semicolons = 0;
  bool quoted = false;
  for (const char c : header) {
    if (c == '"') quoted = !quoted;
    if (!quoted && c == ',') ++commas;
    if (!quoted && c == ';') ++semicolons;
  }
  return semicolons > commas ? ';' : ',';
}

std::optional<PrintedNumber> NumberOfCell(std::string_view cell, char separator) {
  const std::size_t comma = cell.find(',');
  if (separator != ';' || comma == cell.npos) return ParsePrinted(cell);
  if (cell.find('.') != cell.npos) return std::nullopt;
  std::string pointed(cell);
  pointed[comma] = '.';
  return ParsePrinted(pointed);
}

std::optional<std::vector<std::string>> SplitCsvLine(std::string_view line, std::size_t most,
                                                     char separator) {
  std::vector<std::string> cells;
  std::size_t i = 0;
  while (cells.size() <= most) {
    std::string cell;
    if (i < line.size() && line[i] == '"') {
      bool closed = false;
      for (++i; i < line.size() && !closed; ++i) {
        if (line[i] != '"') {
          cell += line[i];
        } else if (i + 1 < line.size() && line[i + 1] == '"') {
          cell += line[i++];
        } else {
          closed = true;
        }
      }
      if (!closed || (i < line.size() && line[i] != separator)) return std::nullopt;
    } else {
      const std::size_t end = std::min(line.find(separator, i), line.size());
      cell = Unpadded(line.substr(i, end - i));
      i = end;
    }
    cells.push_back(std::move(cell));
    if (i >= line.size()) return cells;
    ++i;
    if (i == line.size()) {
      cells.emplace_back();
      return cells;
    }
  }
  return cells;
}

namespace {

constexpr std::string_view kQuoting =
    "expected cells with quotes closed on their line and nothing after them but a separator";

// "Global Step" is as good as "global_step": people write headers for people.
bool IsStepColumn(std::string_view column, std::string_view step) {
  return std::ranges::equal(column, step, [](char c, char expected) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return (lower == ' ' || lower == '-' ? '_' : lower) == expected;
  });
}

// What the cells of a column have turned out to be.
enum class ColumnUse { kUnknown, kCurve, kText, kStep, kOtherStep };

struct Column {
  std::string name;
  ColumnUse use = ColumnUse::kUnknown;
  bool has_numbers = false;  // other than NaN
  std::size_t curve = 0;
};

class CsvReader {
 public:
  CsvReader(std::string_view text, std::string_view file, std::vector<std::string>* restarts,
            std::string_view step)
      : lines_(text, file), curves_(restarts), step_(step) {}

  Status Read() {
    std::string_view line;
    if (!lines_.Next(&line)) return lines_.Fail("expected a header line");
    separator_ = SeparatorOf(line);
    RETURN_IF_ERROR(ReadHeader(line));
    while (lines_.Next(&line)) {
      if (line.empty()) continue;
      RETURN_IF_ERROR(ReadRow(line));
    }
    for (const Column& column : columns_) {
      if (column.use != ColumnUse::kText) continue;
      curves_.PassOver(column.name, column.has_numbers ? "text and numbers" : "text");
    }
    return {};
  }
  CurveBuilder& curves() { return curves_; }

 private:
  Result<std::vector<std::string>> Split(std::string_view line) const {
    if (line.size() > kMaxLineBytes) {
      return lines_.Fail(
          fmt::format("a line of {} bytes; at most {} are read", line.size(), kMaxLineBytes));
    }
    auto cells = SplitCsvLine(line, kMaxCurves, separator_);
    if (!cells) return lines_.Fail(std::string(kQuoting));
    if (cells->size() > kMaxCurves) {
      return lines_.Fail(fmt::format("more than {} columns", kMaxCurves));
    }
    return std::move(*cells);
  }

  Status ReadHeader(std::string_view line) {
    ASSIGN_OR_RETURN(std::vector<std::string> names, Split(line));
    std::set<std::string, std::less<>> seen;
    for (std::string& name : names) {
      if (!name.empty() && !seen.insert(name).second) {
        return lines_.Fail(fmt::format("two columns {}", QuoteForError(name)));
      }
      columns_.push_back(Column{std::move(name)});
    }
    if (!step_.empty()) {
      const auto stated = std::ranges::find(columns_, step_, &Column::name);
      if (stated == columns_.end()) {
        return lines_.Fail(
            fmt::format("no column {}, which is stated as the step", QuoteForError(step_)));
      }
      stated->use = ColumnUse::kStep;
      has_step_ = true;
    }
    for (const std::string_view step : kStepNames) {
      for (Column& column : columns_) {
        if (column.use == ColumnUse::kStep || !IsStepColumn(column.name, step)) continue;
        // The other names for a step are no metrics either.
        column.use = has_step_ ? ColumnUse::kOtherStep : ColumnUse::kStep;
        has_step_ = true;
      }
    }
    return {};
  }

  Result<std::int64_t> StepOf(const std::vector<std::string>& cells) const {
    if (!has_step_) return static_cast<std::int64_t>(lines_.number());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (columns_[i].use != ColumnUse::kStep) continue;
      std::int64_t step = 0;
      const std::string& cell = cells[i];
      const auto parsed = std::from_chars(cell.data(), cell.data() + cell.size(), step);
      if (parsed.ec == std::errc() && parsed.ptr == cell.data() + cell.size()) return step;
      // Data frames write whole numbers as 10.0 once a cell of the column was empty.
      const auto number = NumberOfCell(cell, separator_);
      const auto whole = number ? Json(number->value).ToInt64() : std::nullopt;
      if (whole) return *whole;
      return lines_.Fail(
          fmt::format("expected an integer as the step, found {}", QuoteForError(cell)));
    }
    return InternalError("the step column is not there");
  }

  Status ReadRow(std::string_view line) {
    ASSIGN_OR_RETURN(const std::vector<std::string> cells, Split(line));
    if (cells.size() != columns_.size()) {
      return lines_.Fail(fmt::format("{} cells; the header has {}", cells.size(), columns_.size()));
    }
    ASSIGN_OR_RETURN(const std::int64_t step, StepOf(cells));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      RETURN_IF_ERROR(AddCell(cells[i], step, &columns_[i]));
    }
    return {};
  }

  // An empty cell, or "-", is a value that was not logged. The first other cell sets the type of a
  // column.
  Status AddCell(const std::string& cell, std::int64_t step, Column* column) {
    if (column->use == ColumnUse::kStep || column->use == ColumnUse::kOtherStep) return {};
    if (column->name.empty() || cell.empty() || cell == "-") return {};
    const auto number = NumberOfCell(cell, separator_);
    if (number && !std::isnan(number->value)) column->has_numbers = true;
    if (column->use == ColumnUse::kText) return {};
    if (column->use == ColumnUse::kUnknown) {
      column->use = number ? ColumnUse::kCurve : ColumnUse::kText;
      if (!number) return {};
      auto curve = curves_.IndexOf(column->name);
      if (!curve.ok()) return lines_.Fail(curve.error().message);
      column->curve = *curve;
    }
    if (!number && !column->has_numbers) {  // "none", and then a word
      column->use = ColumnUse::kText;
      return {};
    }
    if (!number) {
      return lines_.Fail(fmt::format("{}: expected a number, found {}", QuoteForError(column->name),
                                     QuoteForError(cell)));
    }
    RETURN_IF_ERROR(CheckMark(cell));
    if (auto wrong = curves_.Add(column->curve, step, *number)) return lines_.Fail(*wrong);
    return {};
  }

  // 1,234 is one number beside 0,5 and another beside 0.5.
  Status CheckMark(const std::string& cell) {
    const std::size_t at = separator_ == ';' ? cell.find_first_of(".,") : cell.npos;
    if (at == cell.npos) return {};
    if (mark_.empty()) mark_ = cell, marked_at_ = lines_.number();
    if (mark_.find(cell[at]) != mark_.npos) return {};
    return lines_.Fail(fmt::format("{}, but {} at line {}; expected one kind of decimal mark",
                                   QuoteForError(cell), QuoteForError(mark_), marked_at_));
  }

  LineReader lines_;
  CurveBuilder curves_;
  std::string_view step_;
  char separator_ = ',';
  std::string mark_;  // the first number with a decimal mark, where it may be a point or a comma
  std::size_t marked_at_ = 0;
  std::vector<Column> columns_;
  bool has_step_ = false;
};

}  // namespace

Result<std::vector<CurveSeries>> ParseCsv(std::string_view text, std::string_view file,
                                          std::vector<std::string>* restarts,
                                          std::string_view step) {
  CsvReader reader(text, file, restarts, step);
  RETURN_IF_ERROR(reader.Read());
  return std::move(reader.curves()).Finish(file);
}

}  // namespace rharness
