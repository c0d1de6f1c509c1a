// JSON of unknown form: values as text, members of values that may be no objects.
//
// Role: for importers and for code that writes back. Pure.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_LOOSE_JSON_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_LOOSE_JSON_H_

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "harness/base/held_folder.h"
#include "harness/base/json.h"

namespace rharness {

// A string's content, a number's or boolean's spelling; empty for all else, and for nullptr.
std::string LooseText(const Json* json);
std::string LooseText(const Json& object, std::string_view key);
// A number, or one written as a string: "8"; empty for all else.
std::optional<double> LooseNumber(const Json* json);
// Whether it is a string, number or boolean.
bool IsJsonScalar(const Json& json);

// Calls f(name, value) for each member; no call for other values.
template <class F>
void ForEachMember(const Json* object, F f) {
  if (object == nullptr || !object->IsObject()) return;
  for (const auto& [name, value] : object->AsObject()) f(name, value);
}

// The elements of an array; none for nothing or null, and any other value is its own only element.
template <class F>
void ForEachElement(const Json* json, F f) {
  if (json == nullptr || json->IsNull()) return;
  if (!json->IsArray()) return f(*json);
  for (const Json& element : json->AsArray()) f(element);
}

// JSON as Python writes it: bare NaN and Infinity become strings; a byte order mark is skipped.
// Errors: as ParseJson, with `where` as the file's name.
Result<Json> ParseLooseJson(std::string_view text, std::string_view where);
// A file of it below `folder`. Errors: also those of ReadFile.
Result<Json> ReadLooseJson(const HeldFolder& folder, const std::filesystem::path& relative,
                           std::uint64_t limit_bytes, std::string_view where);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_LOOSE_JSON_H_
