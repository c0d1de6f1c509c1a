// Properties, to JSON and back.
#include "harness/records/manifest/property.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/base/spelling.h"
#include "harness/records/manifest/command_arguments.h"
#include "harness/records/manifest/fields.h"

namespace rharness {
namespace {

using Names = std::vector<std::string_view>;

struct KindRow {
  PropertyKind kind;
  std::string_view name;
  Names required;
  Names optional;
};

const std::vector<KindRow>& Kinds() {
  static const Names other_way = {"arguments", "command", "environment"};
  static const std::vector<KindRow> rows = {
      {PropertyKind::kRepeated, "repeated", {}, {}},
      {PropertyKind::kResumed, "resumed", {"at", "stop", "checkpoint"}, {"resume", "laid_at"}},
      {PropertyKind::kAccumulated, "accumulated", {}, other_way},
      {PropertyKind::kLoaderWorkers, "loader_workers", {}, other_way},
      {PropertyKind::kProcesses, "processes", {}, other_way},
      {PropertyKind::kResharded, "resharded", {"checkpoint", "steps"}, {"laid_at"}},
      {PropertyKind::kEvaluatedTwice,
       "evaluated_twice",
       {"checkpoint", "command"},
       {"laid_at", "again"}}};
  return rows;
}

const KindRow& RowOf(PropertyKind kind) {
  return *std::ranges::find(Kinds(), kind, &KindRow::kind);
}

bool Holds(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// A placeholder without a meaning, or a misspelled one, would be passed on literally.
void CheckPlaceholders(JsonReader& reader, std::string_view key, std::string_view text,
                       const Names& allowed) {
  for (auto begin = text.find('{'); begin != text.npos; begin = text.find('{', begin + 1)) {
    const auto end = text.find('}', begin);
    if (end == text.npos) return;
    const std::string_view found = text.substr(begin, end - begin + 1);
    if (Holds(allowed, found)) continue;
    for (const std::string_view known : {kStepPlaceholder, kCheckpointPlaceholder}) {
      if (found.size() > 20 || EditDistance(found, known) > 2) continue;
      const std::string expected =
          allowed.empty() ? "no placeholder" : fmt::format("{}", fmt::join(allowed, " or "));
      return reader.Fail(fmt::format("has {} in it; expected {} here", found, expected), key);
    }
  }
}

void ReadWords(JsonReader& reader, std::string_view key, const Names& placeholders,
               std::vector<std::string>* out) {
  reader.ReadArray(key, out);
  if (!reader.ok() || !reader.Has(key)) return;
  if (out->empty()) return reader.Fail("is empty; expected one argument or more", key);
  for (const std::string& word : *out) {
    if (word.find('\0') != word.npos) return reader.Fail("contains a NUL byte", key);
    CheckPlaceholders(reader, key, word, placeholders);
  }
}

void ReadProgram(JsonReader& reader, const Names& placeholders, std::vector<std::string>* out) {
  ReadWords(reader, "command", placeholders, out);
  if (reader.ok() && !out->empty() && out->front().empty()) {
    reader.Fail("expected a program and its arguments; the program's name is empty", "command");
  }
}

void ReadPlace(JsonReader& reader, std::string_view key, const Names& placeholders,
               std::string* out) {
  ReadRelativePath(reader, key, Presence::kOptional, out);
  if (!reader.ok() || !reader.Has(key)) return;
  if (out->empty()) return reader.Fail("is empty; expected a file or a folder", key);
  CheckPlaceholders(reader, key, *out, placeholders);
}

void ReadLabel(JsonReader& reader, std::string* out) {
  reader.ReadOptional("label", out);
  if (!reader.ok() || !reader.Has("label") || (IsRunId(*out) && out->size() <= 64)) return;
  reader.Fail(
      "expected 1 to 64 letters, digits, '.', '_' and '-', beginning with a letter, digit or '_'",
      "label");
}

void ReadVariables(JsonReader& reader, std::map<std::string, std::optional<std::string>>* out) {
  reader.ForEachMember("environment", [&](const std::string& name, JsonReader& value) {
    if (!IsVariableName(name))
      return value.Fail("expected letters, digits and '_', no digit first");
    std::optional<std::string>& set = (*out)[name];
    if (value.json().IsNull()) return;
    value.Get(&set.emplace());
    if (set->find('\0') != set->npos) value.Fail("contains a NUL byte");
  });
}

void ReadCutPoints(JsonReader& reader, std::vector<std::int64_t>* out) {
  reader.ReadArray("at", out);
  if (!reader.ok() || !reader.Has("at")) return;
  if (out->empty() || out->size() > kMostCutPoints) {
    return reader.Fail(
        fmt::format("has {} cut points; expected 1 to {}", out->size(), kMostCutPoints), "at");
  }
  const auto falling = [](std::int64_t a, std::int64_t b) { return a >= b; };
  if (out->front() < 1 || std::ranges::adjacent_find(*out, falling) != out->end()) {
    reader.Fail("expected steps of 1 or more, strictly increasing", "at");
  }
}

void ReadMargin(JsonReader& value, double* out) {
  value.Get(out);
  if (!value.ok() || (std::isfinite(*out) && *out >= 0.0)) return;
  value.Fail("expected a finite number of at least 0");
}

void ReadWithin(JsonReader& reader, Within* out) {
  RefuseUnknownMembers(reader, {"metrics", "tensors"});
  reader.ForEachMember("metrics", [&](const std::string& name, JsonReader& value) {
    if (!IsName(name)) return value.Fail("expected a name of a metric or a curve");
    ReadMargin(value, &out->metrics[name]);
  });
  reader.ReadOptional("tensors", &out->tensors);
  if (reader.ok() && out->tensors && !(*out->tensors >= 0.0 && *out->tensors < 1.0)) {
    reader.Fail("expected a relative difference of at least 0 and less than 1", "tensors");
  }
  if (reader.ok() && out->empty()) {
    reader.Fail("is empty; expected margins of metrics, or a tolerance of tensors");
  }
}

void ReadStep(JsonReader& reader, ReshardStep* out) {
  RefuseUnknownMembers(reader, {"command", "saved"});
  for (const char* key : {"command", "saved"}) {
    if (!reader.Has(key)) return reader.Fail("missing", key);
  }
  ReadProgram(reader, {kCheckpointPlaceholder}, &out->command);
  ReadPlace(reader, "saved", {}, &out->saved);
}

void RefuseMembersOfOthers(JsonReader& reader, const KindRow& row) {
  if (!reader.ok()) return;
  for (const auto& [name, value] : reader.json().AsObject()) {
    const bool general = name == "name" || name == "label" || name == "within";
    if (general || name.starts_with("x-") || Holds(row.required, name) ||
        Holds(row.optional, name)) {
      continue;
    }
    return reader.Fail(fmt::format("is no member of the property {}", row.name), name);
  }
  for (const std::string_view name : row.required) {
    if (!reader.Has(name)) {
      return reader.Fail(fmt::format("missing; the property {} needs it", row.name), name);
    }
  }
  if (!Holds(row.optional, "arguments")) return;
  if (reader.Has("arguments") && reader.Has("command")) {
    return reader.Fail("expected arguments to set or a whole command, not both", "command");
  }
  if (!reader.Has("arguments") && !reader.Has("command") && !reader.Has("environment")) {
    reader.Fail("expected what is otherwise: arguments, command or environment");
  }
}

bool HasPlaceholder(const std::vector<std::string>& words, std::string_view placeholder) {
  return std::ranges::any_of(
      words, [&](const std::string& word) { return word.find(placeholder) != word.npos; });
}

// One is the other, or lies in it.
bool Overlap(const std::string& a, const std::string& b) {
  const auto lies_in = [](const std::string& path, const std::string& folder) {
    return path == folder || path.starts_with(folder + "/");
  };
  return lies_in(a, b) || lies_in(b, a);
}

// A step's input must not be mistaken for its output.
void CheckSteps(JsonReader& reader, const Property& property) {
  std::string laid = property.laid_at.empty() ? property.checkpoint : property.laid_at;
  for (const ReshardStep& step : property.steps) {
    if (Overlap(step.saved, laid)) {
      return reader.Fail(fmt::format("a step saves to '{}', which overlaps with '{}', where what "
                                     "it loads is laid: a step that does nothing would be held; "
                                     "name another place, or lay it elsewhere by laid_at",
                                     TerminalSafe(step.saved), TerminalSafe(laid)),
                         "steps");
    }
    laid = step.saved;
  }
}

// What no single member shows.
void CheckWhole(JsonReader& reader, const Property& property) {
  if (!reader.ok()) return;
  if (property.kind == PropertyKind::kResumed && !HasPlaceholder(property.stop, kStepPlaceholder)) {
    return reader.Fail("expected {step} in one of the arguments: they end the run there", "stop");
  }
  const bool changed =
      !property.arguments.empty() || !property.command.empty() || !property.environment.empty();
  if (Holds(RowOf(property.kind).optional, "arguments") && !changed) {
    return reader.Fail("is empty; expected a variable or more", "environment");
  }
  if (property.kind == PropertyKind::kResharded && property.steps.empty()) {
    return reader.Fail("is empty; expected one step or more", "steps");
  }
  if (property.kind == PropertyKind::kResharded) CheckSteps(reader, property);
  if (property.kind == PropertyKind::kResharded && !property.within.metrics.empty()) {
    return reader.Fail("a checkpoint that is saved again has no metrics; expected tensors",
                       "within");
  }
  if (property.kind == PropertyKind::kEvaluatedTwice && property.within.tensors) {
    return reader.Fail("an evaluation leaves no tensors; expected metrics", "within");
  }
}

void ReadProperty(JsonReader& reader, Property* out) {
  RefuseUnknownMembers(reader, {"name", "label", "at", "stop", "resume", "checkpoint", "laid_at",
                                "arguments", "command", "environment", "again", "steps", "within"});
  std::string name;
  reader.Read("name", &name);
  if (!reader.ok()) return;
  const auto row = std::ranges::find(Kinds(), name, &KindRow::name);
  if (row == Kinds().end()) {
    Names names;
    for (const KindRow& one : Kinds()) names.push_back(one.name);
    return reader.Fail(fmt::format("expected one of {}; found '{}'", fmt::join(names, ", "),
                                   TerminalSafe(name.substr(0, 80))),
                       "name");
  }
  out->kind = row->kind;
  RefuseMembersOfOthers(reader, *row);
  ReadLabel(reader, &out->label);
  const Names step = {kStepPlaceholder};
  const Names checkpoint = {kCheckpointPlaceholder};
  const bool resumed = out->kind == PropertyKind::kResumed;
  const bool evaluated = out->kind == PropertyKind::kEvaluatedTwice;
  ReadCutPoints(reader, &out->at);
  ReadWords(reader, "stop", step, &out->stop);
  ReadWords(reader, "resume", {kStepPlaceholder, kCheckpointPlaceholder}, &out->resume);
  ReadPlace(reader, "checkpoint", resumed ? step : Names(), &out->checkpoint);
  ReadPlace(reader, "laid_at", resumed ? step : Names(), &out->laid_at);
  ReadWords(reader, "arguments", {}, &out->arguments);
  ReadProgram(reader, evaluated ? checkpoint : Names(), &out->command);
  ReadVariables(reader, &out->environment);
  ReadWords(reader, "again", checkpoint, &out->again);
  reader.ForEach("steps", [&](JsonReader& r) { ReadStep(r, &out->steps.emplace_back()); });
  reader.ReadObject("within", false, [&](JsonReader& r) { ReadWithin(r, &out->within); });
  CheckWhole(reader, *out);
}

}  // namespace

std::string_view PropertyKindName(PropertyKind kind) { return RowOf(kind).name; }

std::string NameOf(const Property& property) {
  std::string name(PropertyKindName(property.kind));
  return property.label.empty() ? name : name + ":" + property.label;
}

void ReadProperties(JsonReader& reader, std::vector<Property>* out) {
  std::set<std::string> names;
  reader.ForEach("properties", [&](JsonReader& element) {
    Property& property = out->emplace_back();
    ReadProperty(element, &property);
    if (!element.ok()) return;
    if (out->size() > kMostProperties) {
      element.Fail(fmt::format("is one too many; expected {} at most", kMostProperties));
    } else if (!names.insert(NameOf(property)).second) {
      element.Fail(fmt::format("{} is there twice; a label tells them apart", NameOf(property)));
    }
  });
}

Result<std::vector<Property>> ParseProperties(const Json& json, std::string_view file) {
  JsonReader reader(json, std::string(file));
  std::vector<Property> properties;
  RefuseUnknownMembers(reader, {"properties"});
  ReadProperties(reader, &properties);
  if (reader.ok() && properties.empty()) {
    reader.Fail("declares nothing; expected an array of properties", "properties");
  }
  RETURN_IF_ERROR(reader.status());
  return properties;
}

}  // namespace rharness
