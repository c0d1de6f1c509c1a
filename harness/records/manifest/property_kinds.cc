// How the members of properties are read.
#include "harness/records/manifest/property_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/base/json_reader.h"
#include "harness/records/manifest/command_arguments.h"
#include "harness/records/manifest/fields.h"

namespace rharness {

void ArgumentsKind::Read(JsonReader& reader, std::string_view key, bool required,
                         std::vector<std::string>* out) {
  if (required && !reader.Has(key)) return reader.Fail("missing", key);
  reader.ReadArray(key, out);
  if (!reader.ok() || !reader.Has(key)) return;
  if (out->empty()) return reader.Fail("is empty; expected one argument or more", key);
  for (const std::string& word : *out) {
    if (word.find('\0') != word.npos) return reader.Fail("contains a NUL byte", key);
  }
}

void ReadPlace(JsonReader& reader, std::string_view key, Presence presence, std::string* out) {
  if (presence == Presence::kRequired && !reader.Has(key)) return reader.Fail("missing", key);
  ReadRelativePath(reader, key, Presence::kOptional, out);
  if (!reader.ok() || !reader.Has(key)) return;
  if (out->empty()) reader.Fail("is empty; expected a file or a folder", key);
}

void LabelKind::Read(JsonReader& reader, std::string_view key, bool required, std::string* out) {
  if (required && !reader.Has(key)) return reader.Fail("missing", key);
  reader.ReadOptional(key, out);
  if (!reader.ok() || !reader.Has(key) || (IsRunId(*out) && out->size() <= 64)) return;
  reader.Fail(
      "expected 1 to 64 letters, digits, '.', '_' and '-', beginning with a letter, digit or '_'",
      key);
}

void CutPointsKind::Read(JsonReader& reader, std::string_view key, bool,
                         std::vector<std::int64_t>* out) {
  reader.ReadArray(key, out);
  if (!reader.ok() || !reader.Has(key)) return;
  if (out->empty() || out->size() > kMostCutPoints) {
    return reader.Fail(fmt::format("has {} numbers; expected 1 to {}", out->size(), kMostCutPoints),
                       key);
  }
  const auto falling = [](std::int64_t a, std::int64_t b) { return a >= b; };
  if (out->front() < 1 || std::ranges::adjacent_find(*out, falling) != out->end()) {
    reader.Fail("expected numbers of 1 or more, strictly increasing", key);
  }
}

void OtherVariablesKind::Read(JsonReader& reader, std::string_view key, bool,
                              std::map<std::string, std::optional<std::string>>* out) {
  reader.ForEachMember(key, [&](const std::string& name, JsonReader& value) {
    if (!IsVariableName(name)) {
      return value.Fail("expected letters, digits and '_', no digit first");
    }
    std::optional<std::string>& set = (*out)[name];
    if (value.json().IsNull()) return;
    value.Get(&set.emplace());
    if (set->find('\0') != set->npos) value.Fail("contains a NUL byte");
  });
}

void MarginsKind::Read(JsonReader& reader, std::string_view key, bool,
                       std::map<std::string, double>* out) {
  reader.ForEachMember(key, [&](const std::string& name, JsonReader& value) {
    if (!IsName(name)) return value.Fail("expected a name of a metric or a curve");
    double& margin = (*out)[name];
    value.Get(&margin);
    if (!value.ok() || (std::isfinite(margin) && margin >= 0.0)) return;
    value.Fail("expected a finite number of at least 0");
  });
}

void RelativeDistanceKind::Read(JsonReader& reader, std::string_view key, bool, double* out) {
  reader.ReadOptional(key, out);
  if (!reader.ok() || (*out >= 0.0 && *out < 1.0)) return;
  reader.Fail("expected a relative difference of at least 0 and less than 1", key);
}

}  // namespace rharness
