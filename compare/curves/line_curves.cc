// Curves from logs of one JSON object a line: JSON Lines and MLPerf logs.
// Source: MLCommons logging, mlperf_logging/mllog (":::MLLOG " and an object with key, value,
// event_type and metadata).
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
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

std::string LineReader::Where() const { return fmt::format("{}: line {}", file_, number_); }

Error LineReader::Fail(std::string message) const {
  return InvalidInput(std::move(message), Where());
}

namespace {

using Curves = Result<std::vector<CurveSeries>>;

constexpr std::string_view kMllogMark = ":::MLLOG";
// Where an MLPerf log says how far the training is, the finest first.
constexpr std::array<std::string_view, 4> kMllogPositions = {"samples_count", "step_num", "step",
                                                             "epoch_num"};

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

const Json* StepOf(const Json& line) {
  for (const std::string_view name : kStepNames) {
    const Json* step = line.Find(name);
    if (step != nullptr && !step->IsNull()) return step;
  }
  return nullptr;
}

class JsonLinesReader {
 public:
  explicit JsonLinesReader(LineReader lines) : lines_(lines) {}

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
    return {};
  }
  CurveBuilder& curves() { return curves_; }

 private:
  Status AddLine(const Json& json) {
    const Json* at = StepOf(json);
    const auto step = at == nullptr ? std::nullopt : at->ToInt64();
    if (at != nullptr && !step) return lines_.Fail("expected an integer as the step");
    for (const auto& [name, value] : json.AsObject()) {
      if (IsStepName(name)) continue;
      const auto number = PrintedOf(value);
      if (!curves_.Has(name) && (!number || value.IsNull())) continue;
      if (!number) {
        return lines_.Fail(
            fmt::format("{}: expected a number, found {}", QuoteForError(name), value.KindName()));
      }
      if (!step) {
        RememberWithoutStep(name);
        continue;
      }
      RETURN_IF_ERROR(AddPoint(lines_, name, *step, *number, &curves_));
    }
    return {};
  }
  void RememberWithoutStep(const std::string& name) {
    if (without_step_.size() >= kMaxCurves || without_step_.contains(name)) return;
    without_step_.emplace(
        name, lines_.Fail(fmt::format("{} without a step; expected \"step\", \"iteration\", "
                                      "\"global_step\" or \"epoch\"",
                                      QuoteForError(name))));
  }

  LineReader lines_;
  CurveBuilder curves_;
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
    return {};
  }
  CurveBuilder& curves() { return curves_; }

 private:
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
    const auto known = position_.find(name);
    std::string_view field;
    if (known != position_.end()) {
      field = known->second;
    } else {
      for (const std::string_view candidate : kMllogPositions) {
        if (field.empty() && metadata.Find(candidate) != nullptr) field = candidate;
      }
      if (field.empty()) return {};
    }
    const Json* at = metadata.Find(field);
    const auto step = at == nullptr ? std::nullopt : at->ToInt64();
    if (!step) {
      return lines_.Fail(
          fmt::format("{}: expected an integer as metadata.{}", QuoteForError(name), field));
    }
    RETURN_IF_ERROR(AddPoint(lines_, name, *step, *number, &curves_));
    if (known == position_.end()) position_.emplace(name, field);
    return {};
  }

  LineReader lines_;
  CurveBuilder curves_;
  std::map<std::string, std::string_view> position_;  // the field that counts a curve's steps
};

}  // namespace

Curves ParseJsonLines(std::string_view text, std::string_view file) {
  JsonLinesReader reader(LineReader(text, file));
  RETURN_IF_ERROR(reader.Read());
  return std::move(reader.curves()).Finish(file);
}

Curves ParseMllogCurves(std::string_view text, std::string_view file) {
  MllogReader reader(LineReader(text, file));
  RETURN_IF_ERROR(reader.Read());
  return std::move(reader.curves()).Finish(file);
}

}  // namespace rharness
