// Which format a text is in, from its first bytes.
#include <cstddef>
#include <optional>
#include <string_view>

#include "compare/curves/curve_files.h"
#include "compare/curves/curve_readers.h"
#include "compare/curves/printed_number.h"
#include "compare/curves/tensorboard.h"
#include "compare/curves/wandb_log.h"
#include "harness/base/sqlite_file.h"

namespace rharness {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::size_t SkipSpace(std::string_view text, std::size_t at) {
  while (at < text.size() && IsSpace(text[at])) ++at;
  return at;
}

bool StartsNumber(char c) { return c == '-' || (c >= '0' && c <= '9'); }

// A first element that may be a value of a curve: a number, null, NaN, Infinity, "nan", "-inf".
bool StartsValue(std::string_view text) {
  if (text.empty()) return false;
  if (StartsNumber(text[0]) || text.starts_with("null")) return true;
  if (text[0] == '"') text.remove_prefix(1);
  if (!text.empty() && text[0] == '-') text.remove_prefix(1);
  return text.starts_with("nan") || text.starts_with("NaN") || text.starts_with("inf") ||
         text.starts_with("Inf");
}

bool IsIn(std::string_view word, std::initializer_list<std::string_view> list) {
  for (const std::string_view one : list) {
    if (word == one) return true;
  }
  return false;
}

// Walks through one JSON object, which may be cut off, and notes the content of its first two
// levels.
class ObjectScan {
 public:
  explicit ObjectScan(std::string_view text) : text_(text) { Walk(); }

  std::optional<CurveFormat> Format() const {
    // A record of a known kind that happens to contain curves has its own schema.
    if (schema_) return std::nullopt;
    if (history_ && !another_) return CurveFormat::kTrainerState;
    if ((step_ || another_) && !spread_) return CurveFormat::kJsonLines;
    if (curves_) return CurveFormat::kRunMetrics;
    if (golden_) return CurveFormat::kMegatronGolden;
    if (array_) return CurveFormat::kJsonArrays;
    return std::nullopt;
  }

 private:
  void Walk() {
    int depth = 0;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '\n' && depth > 0) spread_ = true;
      if (c == '"') {
        i = String(i, depth);
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (--depth > 0) continue;
        const std::size_t next = SkipSpace(text_, i + 1);
        another_ = next < text_.size() && text_[next] == '{';
        return;
      }
    }
  }

  // The string that starts at `at`; the place of its last quote.
  std::size_t String(std::size_t at, int depth) {
    std::size_t end = at + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) return text_.size();
    const std::size_t colon = SkipSpace(text_, end + 1);
    if (colon < text_.size() && text_[colon] == ':') {
      Key(text_.substr(at + 1, end - at - 1), SkipSpace(text_, colon + 1), depth);
    }
    return end;
  }

  void Key(std::string_view name, std::size_t value, int depth) {
    if (value >= text_.size()) return;
    const char first = text_[value];
    if (depth == 2) {
      golden_ = golden_ || (name == "values" && (first == '{' || first == '[')) ||
                IsIn(name, {"start_step", "end_step", "step_interval"});
    }
    if (depth != 1) return;
    schema_ = schema_ || name == "schema";
    history_ = history_ || (name == "log_history" && first == '[');
    curves_ = curves_ || (name == "curves" && first == '{');
    for (const std::string_view step : kStepNames) {
      step_ = step_ || (name == step && StartsNumber(first));
    }
    array_ = array_ || (first == '[' && StartsValue(text_.substr(SkipSpace(text_, value + 1))));
  }

  std::string_view text_;
  bool schema_ = false;
  bool step_ = false;
  bool another_ = false;  // a second object follows
  bool spread_ = false;   // over several lines, as no object of JSON Lines is
  bool history_ = false;
  bool curves_ = false;
  bool golden_ = false;
  bool array_ = false;
};

// A header that is not all numbers, and a row of equal length that has one.
bool LooksLikeCsv(std::string_view head) {
  constexpr std::size_t kMostCells = 10'000;
  const std::size_t end = head.find('\n');
  if (end > kMaxLineBytes) return false;  // npos, too
  if (head.find('\0') != std::string_view::npos) return false;
  LineReader lines(head, "");
  std::string_view line;
  lines.Next(&line);
  const char separator = SeparatorOf(line);
  const auto header = SplitCsvLine(line, kMostCells, separator);
  if (!header) return false;
  bool has_word = false;
  for (const std::string& cell : *header)
    has_word = has_word || !(cell.empty() || ParsePrinted(cell));
  do {
    if (!lines.Next(&line)) return false;
  } while (line.empty());
  if (!has_word || line.size() > kMaxLineBytes) return false;
  const auto row = SplitCsvLine(line, kMostCells, separator);
  if (!row) return false;
  bool has_number = false;
  for (const std::string& cell : *row) has_number = has_number || NumberOfCell(cell, separator);
  // A row that is cut off with the head may lack cells.
  const bool whole = line.data() + line.size() < head.data() + head.size();
  return has_number && (whole ? row->size() == header->size() : row->size() <= header->size());
}

}  // namespace

std::optional<CurveFormat> DetectCurveFormat(std::string_view head) {
  if (LooksLikeEventFile(head)) return CurveFormat::kEventFile;
  if (LooksLikeSqlite(head)) return CurveFormat::kDatabase;
  if (LooksLikeWandbLog(head)) return CurveFormat::kWandbLog;
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::size_t start = SkipSpace(head, 0);
  if (start == head.size()) return std::nullopt;
  if (head[start] == '{') return ObjectScan(head.substr(start)).Format();
  if (head.find(":::MLLOG ") != head.npos) return CurveFormat::kMllog;
  if (head[start] == '[') return std::nullopt;
  return LooksLikeCsv(head) ? std::optional(CurveFormat::kCsv) : std::nullopt;
}

}  // namespace rharness
