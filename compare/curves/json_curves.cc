// Curves from one JSON document: Megatron golden values, the file of a run, plain arrays.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "compare/curves/curve_builder.h"
#include "compare/curves/curve_readers.h"

namespace rharness {
namespace {

using Curves = Result<std::vector<CurveSeries>>;

Error FailAt(std::string_view file, std::string_view path, std::string message) {
  return InvalidInput(std::move(message), fmt::format("{}: {}", file, path));
}

std::string PathOf(std::string_view parent, std::string_view key) {
  return fmt::format("{}.{}", parent, ExcerptForError(key));
}

constexpr std::string_view kExpectedValue = "expected a number, null, \"nan\", \"inf\" or \"-inf\"";

Result<Json> ParseObject(std::string_view text, std::string_view file) {
  ASSIGN_OR_RETURN(Json json, ParseJsonWithNonFinite(text, file));
  if (!json.IsObject()) {
    return FailAt(file, "$", fmt::format("expected an object, found {}", json.KindName()));
  }
  return json;
}

// values[i] at step first + i * interval.
Status AddArray(const Json::Array& values, std::int64_t first, std::int64_t interval,
                std::size_t curve, std::string_view file, const std::string& path,
                CurveBuilder* out) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto number = PrintedOf(values[i]);
    if (!number) return FailAt(file, fmt::format("{}[{}]", path, i), std::string(kExpectedValue));
    const std::int64_t step = first + static_cast<std::int64_t>(i) * interval;
    if (auto wrong = out->Add(curve, step, *number)) {
      return FailAt(file, fmt::format("{}[{}]", path, i), *wrong);
    }
  }
  return {};
}

// {"1": v, "5": v}: members in any order, because sorted keys put "10" before "5".
Status AddByStep(const Json::Members& values, std::size_t curve, std::string_view file,
                 const std::string& path, CurveBuilder* out) {
  std::vector<std::pair<std::int64_t, PrintedNumber>> points;
  points.reserve(values.size());
  for (const auto& [key, value] : values) {
    std::int64_t step = 0;
    const char* end = key.data() + key.size();
    const auto parsed = std::from_chars(key.data(), end, step);
    if (parsed.ec != std::errc() || parsed.ptr != end) {
      return FailAt(file, PathOf(path, key), "expected a step (an integer) as the key");
    }
    const auto number = PrintedOf(value);
    if (!number) return FailAt(file, PathOf(path, key), std::string(kExpectedValue));
    points.emplace_back(step, *number);
  }
  std::sort(points.begin(), points.end(),
            [](const auto& x, const auto& y) { return x.first < y.first; });
  for (const auto& [step, number] : points) {
    if (auto wrong = out->Add(curve, step, number)) return FailAt(file, path, *wrong);
  }
  return {};
}

Result<std::int64_t> IntegerMember(const Json& object, std::string_view key, std::int64_t low,
                                   std::string_view file, const std::string& path) {
  constexpr std::int64_t kHigh = std::int64_t{1} << 38;
  const Json* member = object.Find(key);
  const auto value = member == nullptr ? std::nullopt : member->ToInt64();
  if (!value || *value < low || *value > kHigh) {
    return FailAt(file, fmt::format("{}.{}", path, key),
                  fmt::format("expected an integer from {} to {}", low, kHigh));
  }
  return *value;
}

Status AddGolden(const std::string& name, const Json& metric, std::string_view file,
                 CurveBuilder* out) {
  const std::string path = PathOf("$", name);
  const Json* values = metric.Find("values");
  if (values == nullptr || (!values->IsObject() && !values->IsArray())) {
    return FailAt(file, path + ".values",
                  "expected the values: an object by step, or an array with start_step and "
                  "step_interval");
  }
  auto curve = out->IndexOf(name);
  if (!curve.ok()) return FailAt(file, path, curve.error().message);
  if (values->IsObject()) {
    return AddByStep(values->AsObject(), *curve, file, path + ".values", out);
  }
  ASSIGN_OR_RETURN(const std::int64_t first, IntegerMember(metric, "start_step", 0, file, path));
  ASSIGN_OR_RETURN(const std::int64_t interval,
                   IntegerMember(metric, "step_interval", 1, file, path));
  return AddArray(values->AsArray(), first, interval, *curve, file, path + ".values", out);
}

Status AddRunCurve(const std::string& name, const Json& json, std::string_view file,
                   CurveBuilder* out) {
  const std::string path = PathOf("$.curves", name);
  const Json* steps = json.Find("steps");
  const Json* values = json.Find("values");
  if (steps == nullptr || !steps->IsArray() || values == nullptr || !values->IsArray()) {
    return FailAt(file, path, "expected {\"steps\": [integers], \"values\": [numbers]}");
  }
  const Json::Array& all_steps = steps->AsArray();
  const Json::Array& all_values = values->AsArray();
  if (all_steps.size() != all_values.size()) {
    return FailAt(file, path,
                  fmt::format("{} steps and {} values; expected as many of one as of the other",
                              all_steps.size(), all_values.size()));
  }
  auto curve = out->IndexOf(name);
  if (!curve.ok()) return FailAt(file, path, curve.error().message);
  for (std::size_t i = 0; i < all_steps.size(); ++i) {
    const auto step = all_steps[i].ToInt64();
    if (!step) return FailAt(file, fmt::format("{}.steps[{}]", path, i), "expected an integer");
    const auto number = PrintedOf(all_values[i]);
    if (!number) {
      return FailAt(file, fmt::format("{}.values[{}]", path, i), std::string(kExpectedValue));
    }
    if (auto wrong = out->Add(*curve, *step, *number)) {
      return FailAt(file, fmt::format("{}.steps[{}]", path, i), *wrong);
    }
  }
  return {};
}

}  // namespace

Curves ParseMegatronGolden(std::string_view text, std::string_view file) {
  ASSIGN_OR_RETURN(const Json json, ParseObject(text, file));
  CurveBuilder builder;
  for (const auto& [name, metric] : json.AsObject()) {
    if (!metric.IsObject()) continue;  // such as a mean of timings: no curve
    RETURN_IF_ERROR(AddGolden(name, metric, file, &builder));
  }
  return std::move(builder).Finish(file);
}

Curves ParseRunMetricCurves(std::string_view text, std::string_view file) {
  ASSIGN_OR_RETURN(const Json json, ParseObject(text, file));
  const Json* curves = json.Find("curves");
  if (curves == nullptr || !curves->IsObject()) {
    return FailAt(file, "$.curves", "expected an object of curves by name");
  }
  CurveBuilder builder;
  for (const auto& [name, curve] : curves->AsObject()) {
    RETURN_IF_ERROR(AddRunCurve(name, curve, file, &builder));
  }
  return std::move(builder).Finish(file);
}

Curves ParseTrainerState(std::string_view text, std::string_view file) {
  ASSIGN_OR_RETURN(const Json json, ParseObject(text, file));
  const Json* log = json.Find("log_history");
  if (log == nullptr || !log->IsArray()) {
    return FailAt(file, "$.log_history", "expected an array of objects");
  }
  // By name, then by step: if training resumed from a checkpoint, the later entry of a step counts.
  std::map<std::string, std::map<std::int64_t, PrintedNumber>> curves;
  for (std::size_t i = 0; i < log->AsArray().size(); ++i) {
    const Json& entry = log->AsArray()[i];
    const Json* step = entry.Find("step");
    const auto at = step == nullptr ? std::nullopt : step->ToInt64();
    if (!entry.IsObject() || !at) {
      return FailAt(file, fmt::format("$.log_history[{}]", i),
                    "expected an object with an integer \"step\"");
    }
    if (entry.Find("train_runtime") != nullptr) continue;  // totals of the whole training
    for (const auto& [name, value] : entry.AsObject()) {
      if (name == "step" || name == "epoch") continue;
      if (const auto number = PrintedOf(value)) curves[name].insert_or_assign(*at, *number);
    }
  }
  CurveBuilder builder;
  for (const auto& [name, points] : curves) {
    const std::string path = PathOf("$.log_history", name);
    auto curve = builder.IndexOf(name);
    if (!curve.ok()) return FailAt(file, path, curve.error().message);
    for (const auto& [step, number] : points) {
      if (auto wrong = builder.Add(*curve, step, number)) return FailAt(file, path, *wrong);
    }
  }
  return std::move(builder).Finish(file);
}

Curves ParseJsonArrays(std::string_view text, std::string_view file,
                       std::vector<std::string>* remarks) {
  ASSIGN_OR_RETURN(const Json json, ParseObject(text, file));
  CurveBuilder builder(remarks);
  for (const auto& [name, values] : json.AsObject()) {
    const std::string path = PathOf("$", name);
    // One number is a curve of one value. What is no array of numbers from its start is about
    // something else.
    const auto one = NumberOf(values);
    const bool none = values.IsNull() || (values.IsArray() && values.AsArray().empty());
    const bool array = !none && values.IsArray() && PrintedOf(values.AsArray()[0]);
    if (!one && !array && !none) builder.PassOver(name, NounOf(values));
    if (none || (!one && !array)) continue;
    auto curve = builder.IndexOf(name);
    if (!curve.ok()) return FailAt(file, path, curve.error().message);
    if (one) {
      if (auto wrong = builder.Add(*curve, 0, *one)) return FailAt(file, path, *wrong);
      continue;
    }
    RETURN_IF_ERROR(AddArray(values.AsArray(), 0, 1, *curve, file, path, &builder));
  }
  return std::move(builder).Finish(file);
}

}  // namespace rharness
