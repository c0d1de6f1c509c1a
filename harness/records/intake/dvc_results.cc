// Values by dotted names, and plots in a form for reading curves.
#include "harness/records/intake/dvc_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "compare/curves/curve_files.h"
#include "harness/net/yaml.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/loose_json.h"

namespace rharness {
namespace {

void Flatten(const Json& json, const std::string& prefix,
             std::vector<std::pair<std::string, Json>>* out) {
  for (const auto& [name, value] : json.AsObject()) {
    const std::string whole = prefix.empty() ? name : fmt::format("{}.{}", prefix, name);
    if (value.IsObject()) {
      Flatten(value, whole, out);
    } else if (out->size() < kMostDvcValues) {
      out->emplace_back(whole, value);
    }
  }
}

// "train.lr" as one name, or step by step.
const Json* FindDotted(const Json& json, std::string_view name) {
  if (const Json* there = json.Find(name)) return there;
  const Json* at = &json;
  while (at != nullptr && !name.empty()) {
    const std::string_view part = name.substr(0, name.find('.'));
    name.remove_prefix(std::min(name.size(), part.size() + 1));
    at = at->Find(part);
  }
  return at;
}

bool SameValue(const Json& a, const Json& b) {
  if (a.Dump() == b.Dump()) return true;
  const auto x = a.ToDouble(), y = b.ToDouble();
  return x && y && *x == *y;
}

// A list of objects as JSON lines, with `x` as the step.
Result<std::string> LinesOf(const Json& json, const std::string& file, const std::string& x) {
  const Json* list = &json;
  if (json.IsObject()) {
    for (const auto& [name, value] : json.AsObject()) {
      if (value.IsArray()) list = &value;
    }
  }
  if (!list->IsArray()) return InvalidInput("expected a list of objects", file);
  std::string lines;
  std::int64_t index = 0;
  for (const Json& element : list->AsArray()) {
    if (!element.IsObject()) return InvalidInput("expected a list of objects", file);
    Json line = Json::MakeObject();
    const bool named = !x.empty() && element.Find(x) != nullptr;
    if (named) line.Set("step", *element.Find(x));
    for (const auto& [name, value] : element.AsObject()) {
      if (!named || (name != x && name != "step")) line.Set(name, value);
    }
    if (!named && line.Find("step") == nullptr) line.Set("step", index);
    ++index;
    lines += line.Dump() + "\n";
  }
  return lines;
}

}  // namespace

Result<Json> ParseDvcValues(std::string_view text, const std::string& file) {
  if (file.ends_with(".json")) return ParseLooseJson(text, file);
  if (file.ends_with(".yaml") || file.ends_with(".yml"))
    return ParseYamlAsJson(text, file, YamlScalars::kDvc);
  return Unsupported("is not read; expected .json, .yaml or .yml", file);
}

std::vector<std::pair<std::string, Json>> FlattenDvcValues(const Json& json) {
  std::vector<std::pair<std::string, Json>> values;
  if (json.IsObject()) Flatten(json, "", &values);
  return values;
}

std::vector<std::string> DifferingParams(const Json& recorded, const Json& file) {
  std::vector<std::string> names;
  for (const auto& [name, value] : FlattenDvcValues(recorded)) {
    const Json* there = FindDotted(file, name);
    if (there != nullptr ? SameValue(value, *there) : value.IsNull()) continue;
    const std::string now = there == nullptr ? "not" : CleanText(there->Dump(), 60);
    names.push_back(fmt::format("{} ({} there, {} recorded)", CleanText(name, 100), now,
                                CleanText(value.Dump(), 60)));
  }
  return names;
}

Result<std::vector<CurveSeries>> ParseDvcPlot(std::string_view text, const std::string& file,
                                              const std::string& x) {
  if (file.ends_with(".json")) {
    ASSIGN_OR_RETURN(const Json json, ParseLooseJson(text, file));
    ASSIGN_OR_RETURN(const std::string lines, LinesOf(json, file, x));
    return ParseCurves(lines, file);
  }
  std::string table(text);
  if (file.ends_with(".tsv")) {
    if (table.find_first_of(",\"") != table.npos) {
      return Unsupported("tabs between cells that have commas or quotes are not read", file);
    }
    std::ranges::replace(table, '\t', ',');
  } else if (!file.ends_with(".csv")) {
    return Unsupported("is not read; expected .csv, .tsv or .json", file);
  }
  if (!x.empty() && x != "step") {
    // The first cell of that name becomes the step's.
    const std::size_t end = std::min(table.find_first_of("\r\n"), table.size());
    const std::string header = "," + table.substr(0, end) + ",";
    const auto at = header.find("," + x + ",");
    if (at != header.npos) table.replace(at, x.size(), "step");
  }
  return ParseCurves(table, file);
}

}  // namespace rharness
