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
#include "harness/base/strict_member_reader.h"
#include "harness/records/manifest/command_arguments.h"
#include "harness/records/manifest/fields.h"
#include "harness/records/manifest/property_legs.h"
#include "harness/records/manifest/property_members.h"

namespace rharness {
namespace {

using Names = std::vector<std::string_view>;

// The members that a kind of property has, beside name, label and within.
struct KindRow {
  PropertyKind kind;
  Names required;
  Names optional;
};

const std::vector<KindRow>& Kinds() {
  static const Names other_way = {"arguments", "command", "environment"};
  static const std::vector<KindRow> rows = {
      {PropertyKind::kRepeated, {}, {}},
      {PropertyKind::kResumed, {"at", "stop", "checkpoint"}, {"resume", "laid_at"}},
      {PropertyKind::kAccumulated, {}, other_way},
      {PropertyKind::kLoaderWorkers, {}, other_way},
      {PropertyKind::kProcesses, {}, other_way},
      {PropertyKind::kResharded, {"checkpoint", "steps"}, {"laid_at"}},
      {PropertyKind::kEvaluatedTwice, {"checkpoint", "command"}, {"laid_at", "again"}},
      {PropertyKind::kBatchInvariant,
       {},
       {"sizes", "ways", "arguments", "command", "environment"}}};
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
    for (const std::string_view known :
         {kStepPlaceholder, kCheckpointPlaceholder, kSizePlaceholder}) {
      if (found.size() > 20 || EditDistance(found, known) > 2) continue;
      const std::string expected =
          allowed.empty() ? "no placeholder" : fmt::format("{}", fmt::join(allowed, " or "));
      return reader.Fail(fmt::format("has {} in it; expected {} here", found, expected), key);
    }
  }
}

void CheckWords(JsonReader& reader, std::string_view key, const Names& placeholders,
                const std::vector<std::string>& words) {
  for (const std::string& word : words) CheckPlaceholders(reader, key, word, placeholders);
}

void CheckProgram(JsonReader& reader, const Names& placeholders,
                  const std::vector<std::string>& command) {
  CheckWords(reader, "command", placeholders, command);
  if (reader.ok() && !command.empty() && command.front().empty()) {
    reader.Fail("expected a program and its arguments; the program's name is empty", "command");
  }
}

void CheckOtherWay(JsonReader& reader) {
  if (reader.Has("arguments") && reader.Has("command")) {
    return reader.Fail("expected arguments to set or a whole command, not both", "command");
  }
  if (!reader.Has("arguments") && !reader.Has("command") && !reader.Has("environment")) {
    reader.Fail("expected what is otherwise: arguments, command or environment");
  }
}

void RefuseMembersOfOthers(JsonReader& reader, const KindRow& row) {
  if (!reader.ok()) return;
  for (const auto& [name, value] : reader.json().AsObject()) {
    const bool general = name == "name" || name == "label" || name == "within";
    if (general || name.starts_with("x-") || Holds(row.required, name) ||
        Holds(row.optional, name)) {
      continue;
    }
    return reader.Fail(fmt::format("is no member of the property {}", PropertyKindName(row.kind)),
                       name);
  }
  for (const std::string_view name : row.required) {
    if (!reader.Has(name)) {
      return reader.Fail(
          fmt::format("missing; the property {} needs it", PropertyKindName(row.kind)), name);
    }
  }
  if (!Holds(row.optional, "arguments")) return;
  const bool sizes = Holds(row.optional, "sizes");
  if (sizes && !reader.Has("sizes") && !reader.Has("ways")) {
    return reader.Fail("expected sizes of batches, or ways, or both");
  }
  if (!sizes || reader.Has("sizes")) return CheckOtherWay(reader);
  for (const std::string_view name : {"arguments", "command", "environment"}) {
    if (reader.Has(name)) return reader.Fail("is for sizes; expected it in one of the ways", name);
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

void RequireChange(JsonReader& reader, const OtherWay& way) {
  if (!way.arguments.empty() || !way.command.empty() || !way.environment.empty()) return;
  reader.Fail("is empty; expected a variable or more", "environment");
}

// Each leg has a name of its own, and each size another way.
void CheckBatches(JsonReader& reader, const Property& property) {
  if (property.ways.size() > kMostCutPoints) {
    return reader.Fail(
        fmt::format("has {} ways; expected {} at most", property.ways.size(), kMostCutPoints),
        "ways");
  }
  std::set<std::string> labels;
  for (const OtherWay& way : WaysOf(property)) {
    if (labels.insert(way.label).second) continue;
    return reader.Fail(
        fmt::format("two legs are named {}; expected a label of its own for each", way.label),
        "ways");
  }
  if (property.sizes.empty()) return;
  const bool placed =
      HasPlaceholder(property.arguments, kSizePlaceholder) ||
      HasPlaceholder(property.command, kSizePlaceholder) ||
      std::ranges::any_of(property.environment, [](const auto& variable) {
        return variable.second && variable.second->find(kSizePlaceholder) != std::string::npos;
      });
  if (!placed) {
    reader.Fail(
        "expected {size} in an argument or a variable: it passes on how many items a batch "
        "has",
        "sizes");
  }
}

// What no single member shows.
void CheckWhole(JsonReader& reader, const Property& property) {
  if (!reader.ok()) return;
  if (property.kind == PropertyKind::kResumed && !HasPlaceholder(property.stop, kStepPlaceholder)) {
    return reader.Fail("expected {step} in one of the arguments: they end the run there", "stop");
  }
  if (property.kind == PropertyKind::kBatchInvariant) return CheckBatches(reader, property);
  if (Holds(RowOf(property.kind).optional, "arguments")) {
    RequireChange(reader, WaysOf(property).front());
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

void CheckAllPlaceholders(JsonReader& reader, const Property& property) {
  const Names step = {kStepPlaceholder};
  const Names checkpoint = {kCheckpointPlaceholder};
  const bool resumed = property.kind == PropertyKind::kResumed;
  const bool evaluated = property.kind == PropertyKind::kEvaluatedTwice;
  const Names size =
      property.kind == PropertyKind::kBatchInvariant ? Names{kSizePlaceholder} : Names();
  CheckWords(reader, "stop", step, property.stop);
  CheckWords(reader, "resume", {kStepPlaceholder, kCheckpointPlaceholder}, property.resume);
  CheckPlaceholders(reader, "checkpoint", property.checkpoint, resumed ? step : Names());
  CheckPlaceholders(reader, "laid_at", property.laid_at, resumed ? step : Names());
  CheckWords(reader, "arguments", size, property.arguments);
  CheckProgram(reader, evaluated ? checkpoint : size, property.command);
  CheckWords(reader, "again", checkpoint, property.again);
}

}  // namespace

void CheckMembers(JsonReader& reader, const Within& within) {
  if (within.empty())
    reader.Fail("is empty; expected margins of metrics, or a tolerance of tensors");
}

void CheckMembers(JsonReader& reader, const ReshardStep& step) {
  CheckProgram(reader, {kCheckpointPlaceholder}, step.command);
  CheckPlaceholders(reader, "saved", step.saved, {});
}

void CheckMembers(JsonReader& reader, const OtherWay& way) {
  if (!reader.ok()) return;
  CheckOtherWay(reader);
  CheckWords(reader, "arguments", {}, way.arguments);
  CheckProgram(reader, {}, way.command);
  if (reader.ok()) RequireChange(reader, way);
}

void CheckMembers(JsonReader& reader, const Property& property) {
  RefuseMembersOfOthers(reader, RowOf(property.kind));
  CheckAllPlaceholders(reader, property);
  CheckWhole(reader, property);
}

std::string_view PropertyKindName(PropertyKind kind) { return NameIn(kPropertyKindNames, kind); }

std::string NameOf(const Property& property) {
  std::string name(PropertyKindName(property.kind));
  return property.label.empty() ? name : name + ":" + property.label;
}

Json ToJson(const Property& property) { return StrictWriter::Written(property); }

void ReadProperties(JsonReader& reader, std::vector<Property>* out) {
  std::set<std::string> names;
  reader.ForEach("properties", [&](JsonReader& element) {
    Property& property = out->emplace_back();
    StrictReader::ReadInto(element, property);
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
