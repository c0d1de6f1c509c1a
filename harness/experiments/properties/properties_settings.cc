// Settings of a drill of properties: gathered, to JSON and back.
#include "harness/experiments/properties/properties_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "harness/base/files.h"
#include "harness/base/json_reader.h"
#include "harness/drill/given_names.h"
#include "harness/history/store.h"
#include "harness/records/manifest/property_legs.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

Result<Manifest> LoadRun(const std::string& name, HistoryStore* history) {
  std::error_code error;
  if (fs::is_regular_file(name, error)) return LoadManifest(name);
  if (history != nullptr) return history->Get(name);
  return NotFound("no such file; for the id of a run of a history, give --history",
                  TerminalSafe(name));
}

Result<std::vector<Property>> Declared(const std::string& file) {
  if (file.empty()) return std::vector<Property>();
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(file));
  return ParseProperties(json, file);
}

// Ways that are all the recorded one show nothing.
Status RequireOtherBatches(const Manifest& run) {
  for (const Property& property : run.properties) {
    if (property.kind != PropertyKind::kBatchInvariant) continue;
    const std::vector<OtherWay> ways = WaysOf(property);
    if (!std::ranges::all_of(ways, [&](const OtherWay& way) { return IsAsRecorded(run, way); })) {
      continue;
    }
    return InvalidInput(fmt::format("every leg of {} is the recorded command itself; expected "
                                    "another size or way",
                                    NameOf(property)),
                        run.run_id);
  }
  return {};
}

// A leg too large for every slot would wait forever.
Status RequireRoom(const Manifest& run, PlanOptions options) {
  options.reruns = 1;
  options.budget_seconds = options.budget_gpu_hours = 0.0;
  const Plan plan = BuildPlan({RunNeeds(run)}, options);
  if (plan.left_out.empty()) return {};
  return InvalidInput(plan.notes.empty() ? "cannot be run here" : plan.notes.front(), run.run_id);
}

}  // namespace

Json ToJson(const PropertiesSettings& settings) {
  Json runs = Json::MakeArray();
  for (const Manifest& run : settings.runs) runs.Append(ToJson(run));
  return Json::MakeObject({{"schema", "rharness.properties_settings/v1"},
                           {"drill", ToJson(settings.drill)},
                           {"runs", std::move(runs)},
                           {"repeats", settings.repeats},
                           {"keep_workspaces", settings.keep_workspaces}});
}

Result<PropertiesSettings> ParsePropertiesSettings(const Json& json, std::string_view file) {
  PropertiesSettings settings;
  JsonReader reader(json, std::string(file));
  reader.ReadSchema("rharness.properties_settings", 1);
  reader.ForEach("runs", [&](JsonReader& one) {
    auto run = ParseManifest(one.json(), file);
    if (!run.ok()) return one.Fail(run.error().message);
    settings.runs.push_back(std::move(*run));
  });
  reader.Read("repeats", &settings.repeats);
  reader.Read("keep_workspaces", &settings.keep_workspaces);
  if (reader.ok() && (settings.repeats < 2 || settings.runs.empty())) {
    reader.Fail("expected runs, and two repeats or more");
  }
  RETURN_IF_ERROR(reader.status());
  const Json* drill = json.Find("drill");
  if (drill == nullptr) return InvalidInput("has no member drill", std::string(file));
  ASSIGN_OR_RETURN(settings.drill, ParseDrillSettings(*drill, file));
  return settings;
}

Result<PropertiesSettings> GatherProperties(const PropertiesOptions& options, Clock* clock) {
  PropertiesSettings settings{.drill = {.drill_id = MakeDrillId(clock->Now()),
                                        .started = clock->Now(),
                                        .options = options.drill},
                              .keep_workspaces = options.drill.keep_workspaces,
                              .repeats = options.repeats};
  settings.drill.options.keep_workspaces = true;
  std::shared_ptr<HistoryStore> history;
  if (!options.drill.history.empty()) {
    ASSIGN_OR_RETURN(history, HistoryStore::OpenExisting(options.drill.history));
  }
  ASSIGN_OR_RETURN(const std::vector<Property> declared, Declared(options.declare));
  std::set<std::string> known;
  for (const std::string& name : options.runs) {
    ASSIGN_OR_RETURN(Manifest run, LoadRun(name, history.get()));
    if (!declared.empty()) run.properties = declared;
    if (run.properties.empty()) {
      return InvalidInput(
          "declares no properties; expected some in the manifest, or in a file by "
          "--declare",
          TerminalSafe(name));
    }
    if (run.command.empty()) {
      return InvalidInput("its record does not say its command", TerminalSafe(name));
    }
    if (!known.insert(run.run_id).second) {
      return InvalidInput(fmt::format("run {} is given twice", run.run_id), TerminalSafe(name));
    }
    RETURN_IF_ERROR(RequireOtherBatches(run));
    RETURN_IF_ERROR(RequireRoom(run, options.drill.plan));
    settings.drill.run_ids.push_back(run.run_id);
    settings.runs.push_back(std::move(run));
  }
  RETURN_IF_ERROR(RequireUsedMaps(options.drill, settings.runs));
  return settings;
}

}  // namespace rharness
