// Curves from logs of one JSON object a line: JSON Lines and MLPerf logs.
// Source: MLCommons logging, mlperf_logging/mllog (":::MLLOG " and an object with key, value,
// event_type and metadata).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "compare/curves/curve_builder.h"
#include "compare/curves/curve_readers.h"

namespace rharness {

bool LineReader::Next(std::string_view* line) {
  if (text_.empty()) return false;
  const std::size_t end = text_.find('\n');
  *line = text_.substr(0, end);
  text_.remove_prefix(end == text_.npos ? text_.size() : end + 1);
  if (line->ends_with('\r')) line->remove_suffix(1);
  ++number_;
  return true;
}

std::string LineReader::WhereOf(std::size_t number) const {
  return fmt::format("{}: line {}", file_, number);
}

Error LineReader::Fail(std::string message) const {
  return InvalidInput(std::move(message), Where());
}

namespace {

using Curves = Result<std::vector<CurveSeries>>;

constexpr std::string_view kMllogMark = ":::MLLOG";
// The members of an MLPerf log with the progress of training, the finest first.
constexpr std::array<std::string_view, 4> kMllogPositions = {"samples_count", "step_num", "step",
                                                             "epoch_num"};

// Its millionths are whole numbers of 64 bits.
constexpr double kMaxPosition = 1e12;

constexpr int kMostLevels = 16;

bool IsBlank(std::string_view line) { return line.find_first_not_of(" \t") == line.npos; }

Status CheckLength(const LineReader& lines, std::string_view line) {
  if (line.size() <= kMaxLineBytes) return {};
  return lines.Fail(
      fmt::format("a line of {} bytes; at most {} are read", line.size(), kMaxLineBytes));
}

Result<Json> ParseLine(const LineReader& lines, std::string_view text) {
  RETURN_IF_ERROR(CheckLength(lines, text));
  ASSIGN_OR_RETURN(Json json, ParseJsonWithNonFinite(text, lines.Where()));
  if (!json.IsObject()) {
    return lines.Fail(fmt::format("expected an object, found {}", json.KindName()));
  }
  return json;
}

Status AddPoint(const LineReader& lines, std::string_view name, std::int64_t step,
                PrintedNumber number, CurveBuilder* out) {
  auto curve = out->IndexOf(name);
  if (!curve.ok()) return lines.Fail(curve.error().message);
  if (auto wrong = out->Add(*curve, step, number)) return lines.Fail(*wrong);
  return {};
}

bool IsStepName(std::string_view name) {
  for (const std::string_view step : kStepNames) {
    if (name == step) return true;
  }
  return false;
}

// Of a whole number, in quotes or not.
std::optional<std::int64_t> WholeOf(const Json& json) {
  const bool text = json.kind() == Json::Kind::kString;
  const auto number = text ? NumberOf(json) : std::nullopt;
  return number ? Json(number->value).ToInt64() : json.ToInt64();
}

const Json* StepOf(const Json& line, std::string_view stated) {
  if (!stated.empty()) {
    const Json* step = line.Find(stated);
    return step != nullptr && step->IsNull() ? nullptr : step;
  }
  for (const std::string_view name : kStepNames) {
    const Json* step = line.Find(name);
    if (step != nullptr && !step->IsNull()) return step;
  }
  return nullptr;
}

class JsonLinesReader {
 public:
  JsonLinesReader(LineReader lines, std::vector<std::string>* restarts, std::string_view step)
      : lines_(lines), curves_(restarts), step_(step) {}

  Status Read() {
    std::string_view line;
    while (lines_.Next(&line)) {
      if (IsBlank(line)) continue;
      ASSIGN_OR_RETURN(const Json json, ParseLine(lines_, line));
      RETURN_IF_ERROR(AddLine(json));
    }
    // A summary may have no step, but a value of a curve that is left out would go unseen.
    for (const auto& [name, error] : without_step_) {
      if (curves_.Has(name)) return error;
    }
    if (!step_.empty() && !has_step_) {
      return lines_.Fail(
          fmt::format("no line has {}, which is stated as the step", QuoteForError(step_)));
    }
    return {};
  }
  CurveBuilder& curves() { return curves_; }

 private:
  Status AddLine(const Json& json) {
    const Json* at = StepOf(json, step_);
    const auto step = at == nullptr ? std::nullopt : WholeOf(*at);
    if (at != nullptr && !step) {
      return lines_.Fail(fmt::format("expected an integer as the step, found {}",
                                     at->IsObject() || at->IsArray() ? std::string(at->KindName())
                                                                     : QuoteForError(at->Dump())));
    }
    has_step_ = has_step_ || step;
    for (const auto& [name, value] : json.AsObject()) {
      if (IsStepName(name) || name == step_) continue;
      RETURN_IF_ERROR(AddMember(name, value, step, kMostLevels));
    }
    return {};
  }
  // The members of an object are curves "OBJECT/MEMBER".
  Status AddMember(const std::string& name, const Json& value, std::optional<std::int64_t> step,
                   int levels) {
    if (value.IsObject() && levels > 0) {
      for (const auto& [member, inner] : value.AsObject()) {
        RETURN_IF_ERROR(AddMember(fmt::format("{}/{}", name, member), inner, step, levels - 1));
      }
      return {};
    }
    const bool text = value.kind() == Json::Kind::kString;
    if (text && value.AsString().empty()) return {};
    const auto number = NumberOf(value);
    if (!number) {
      // What is text on one line, and digits in quotes on another, is text.
      if (curves_.Has(name) && !texts_.contains(name)) {
        return lines_.Fail(
            fmt::format("{}: expected a number, found {}", QuoteForError(name), value.KindName()));
      }
      curves_.PassOver(name, NounOf(value));
      return {};
    }
    if (curves_.IsPassedOver(name) || (value.IsNull() && !curves_.Has(name))) return {};
    if (!step) {
      RememberWithoutStep(name);
      return {};
    }
    if (text && !curves_.Has(name)) texts_.insert(name);
    return AddPoint(lines_, name, *step, *number, &curves_);
  }
  void RememberWithoutStep(const std::string& name) {
    if (without_step_.size() >= kMaxCurves || without_step_.contains(name)) return;
    without_step_.emplace(
        name, lines_.Fail(fmt::format("{} without a step; expected {}", QuoteForError(name),
                                      step_.empty() ? "\"step\", \"iteration\", "
                                                      "\"global_step\" or \"epoch\""
                                                    : QuoteForError(step_))));
  }

  LineReader lines_;
  CurveBuilder curves_;
  std::string_view step_;
  bool has_step_ = false;
  std::set<std::string> texts_;  // curves whose first value was in quotes
  std::map<std::string, Error> without_step_;
};

class MllogReader {
 public:
  explicit MllogReader(LineReader lines) : lines_(lines) {}

  Status Read() {
    std::string_view line;
    while (lines_.Next(&line)) {
      const std::size_t mark = line.find(kMllogMark);
      if (mark == line.npos) continue;
      ASSIGN_OR_RETURN(const Json json, ParseLine(lines_, line.substr(mark + kMllogMark.size())));
      const Json* key = json.Find("key");
      const Json* value = json.Find("value");
      const Json* metadata = json.Find("metadata");
      if (key == nullptr || key->kind() != Json::Kind::kString || value == nullptr) {
        return lines_.Fail("expected an object with \"key\" (a string) and \"value\"");
      }
      if (metadata == nullptr || !metadata->IsObject()) continue;
      RETURN_IF_ERROR(AddEvent(key->AsString(), *value, *metadata));
    }
    for (const std::string& name : names_) {
      RETURN_IF_ERROR(AddCurve(name, points_.at(name)));
    }
    return {};
  }
  CurveBuilder& curves() { return curves_; }

 private:
  struct Point {
    double position = 0.0;
    PrintedNumber number;
    std::size_t line = 0;
  };
  struct Points {
    std::string_view field;  // that counts the curve's steps
    bool fractions = false;  // a position is no whole number
    std::vector<Point> all;
  };

  // A number, or an object of numbers such as tracked_stats: {"throughput": 24.6}.
  Status AddEvent(const std::string& key, const Json& value, const Json& metadata) {
    if (value.IsObject()) {
      for (const auto& [name, member] : value.AsObject()) {
        RETURN_IF_ERROR(AddValue(name, member, metadata));
      }
      return {};
    }
    return AddValue(key, value, metadata);
  }
  // Events without a value or without a position are no points of a curve.
  Status AddValue(const std::string& name, const Json& value, const Json& metadata) {
    const auto number = PrintedOf(value);
    if (value.IsNull() || !number) return {};
    const auto known = points_.find(name);
    std::string_view field;
    if (known != points_.end()) {
      field = known->second.field;
    } else {
      for (const std::string_view candidate : kMllogPositions) {
        if (field.empty() && metadata.Find(candidate) != nullptr) field = candidate;
      }
      if (field.empty()) return {};
    }
    const Json* at = metadata.Find(field);
    const auto position = at == nullptr ? std::nullopt : at->ToDouble();
    if (!position || !(std::fabs(*position) <= kMaxPosition)) {
      return lines_.Fail(fmt::format("{}: expected a number of at most {:g} as metadata.{}",
                                     QuoteForError(name), kMaxPosition, field));
    }
    Points& points = points_.try_emplace(name, Points{.field = field}).first->second;
    points.fractions |= *position != std::floor(*position);
    points.all.push_back({*position, *number, lines_.number()});
    if (known == points_.end()) names_.push_back(name);
    return {};
  }

  // Positions that are fractions become steps in millionths, and the name says so.
  Status AddCurve(const std::string& name, const Points& points) {
    const double scale = points.fractions ? 1e6 : 1.0;
    const std::string shown =
        points.fractions ? fmt::format("{}, by millionths of {}", name, points.field) : name;
    std::vector<double> here;  // the values at one step
    std::optional<std::int64_t> last;
    for (const Point& point : points.all) {
      const std::int64_t step = std::llround(point.position * scale);
      if (step != last) here.clear();
      last = step;
      const double value = point.number.value;
      // What several processes printed is there once; a second value is of a second curve.
      if (std::ranges::find(here, value) != here.end()) continue;
      const std::string own = here.empty() ? shown : fmt::format("{} #{}", shown, here.size() + 1);
      here.push_back(value);
      const auto curve = curves_.IndexOf(own);
      if (!curve.ok()) return InvalidInput(curve.error().message, lines_.WhereOf(point.line));
      if (auto wrong = curves_.Add(*curve, step, point.number)) {
        return InvalidInput(*wrong, lines_.WhereOf(point.line));
      }
    }
    return {};
  }

  LineReader lines_;
  CurveBuilder curves_;
  std::map<std::string, Points> points_;
  std::vector<std::string> names_;  // in the order of the log
};

}  // namespace

Curves ParseJsonLines(std::string_view text, std::string_view file,
                      std::vector<std::string>* restarts, std::string_view step) {
  JsonLinesReader reader(LineReader(text, file), restarts, step);
  RETURN_IF_ERROR(reader.Read());
  return std::move(reader.curves()).Finish(file);
}

Curves ParseMllogCurves(std::string_view text, std::string_view file) {
  MllogReader reader(LineReader(text, file));
  RETURN_IF_ERROR(reader.Read());
  return std::move(reader.curves()).Finish(file);
}

}  // namespace rharness
