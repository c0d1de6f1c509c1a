// Helpers for writing and reading every record of reports: arrays, names, tallies.
//
// Role: private to reports/. Readers record their errors in the given reader. json_nouns.h has the
// members of nouns.
#ifndef RHARNESS_REPORTS_JSON_PARTS_H_
#define RHARNESS_REPORTS_JSON_PARTS_H_

#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/json_reader.h"
#include "harness/base/result.h"
#include "harness/verdict/verdict.h"
#include "reports/names.h"

namespace rharness {

template <class T, class F>
Json ArrayOf(const T& values, F to_json) {
  Json::Array array;
  array.reserve(values.size());
  for (const auto& value : values) array.push_back(to_json(value));
  return Json::MakeArray(std::move(array));
}

template <class T>
Json PlainArray(const std::vector<T>& values) {
  return ArrayOf(values, [](const T& value) { return Json(value); });
}

// Reads a member as text and turns it into *out with `parse`, which returns a Result<T>.
template <class T, class F>
void ReadAs(JsonReader& reader, std::string_view key, T* out, F parse) {
  std::string text;
  reader.Read(key, &text);
  if (!reader.ok()) return;
  const Result<T> value = parse(text);
  if (!value.ok()) return reader.Fail(value.error().message, key);
  *out = *value;
}

template <class T, std::size_t n>
auto ParserOf(const NameTable<T, n>& table) {
  return [&table](std::string_view text) -> Result<T> {
    for (const auto& [value, name] : table) {
      if (name == text) return value;
    }
    std::string choices;
    for (const auto& [value, name] : table) {
      choices += fmt::format("{}{}", choices.empty() ? "" : ", ", name);
    }
    return InvalidInput(fmt::format("unknown name '{}'; expected one of {}", text, choices));
  };
}

// The tally of these verdicts: all seven names are present.
std::map<std::string, int> CountVerdicts(const std::vector<Verdict>& verdicts);
// An object with one member per verdict of the map, and back.
Json CountsJson(const std::map<std::string, int>& counts);
void ReadCounts(JsonReader& reader, std::map<std::string, int>* counts);
// The counts and the exit code must follow from the verdicts; only the failing exit codes may say
// more than the verdicts do (something was interrupted).
void CheckTally(JsonReader& reader, const std::vector<Verdict>& verdicts,
                const std::map<std::string, int>& counts, int exit_code,
                const std::vector<Verdict>& families = {});

}  // namespace rharness

#endif  // RHARNESS_REPORTS_JSON_PARTS_H_
