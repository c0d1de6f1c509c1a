// The file of an incident's settings; see incident_settings.h.
#include "harness/incident/incident_settings.h"

#include <utility>

#include "harness/base/files.h"
#include "harness/base/json_reader.h"

namespace rharness {

WorkPlaces::WorkPlaces(const std::filesystem::path& out)
    : folder(out.string() + ".work"),
      settings(folder / "settings.json"),
      drill(folder / "drill"),
      staging(folder / "bundle") {}

Json ToJson(const IncidentSettings& settings) {
  Json passed = Json::MakeArray();
  for (const PassedRun& one : settings.passed) {
    passed.Append(Json::MakeObject(
        {{"run_id", one.run_id}, {"damage", one.damage}, {"tampered", one.tampered}}));
  }
  return Json::MakeObject({{"schema", "rharness.incident_settings/v1"},
                           {"run", settings.run},
                           {"good", settings.good},
                           {"passed", std::move(passed)},
                           {"named", settings.named}});
}

Result<IncidentSettings> LoadIncidentSettings(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const Json json, ReadJsonFile(path));
  IncidentSettings settings;
  JsonReader reader(json, path.string());
  reader.ReadSchema("rharness.incident_settings", 1);
  reader.Read("run", &settings.run);
  reader.Read("good", &settings.good);
  reader.ReadEach("passed", &settings.passed, [](JsonReader& one, PassedRun* passed) {
    one.Read("run_id", &passed->run_id);
    one.Read("damage", &passed->damage);
    one.Read("tampered", &passed->tampered);
  });
  reader.ReadOptional("named", &settings.named);
  RETURN_IF_ERROR(reader.status());
  return settings;
}

}  // namespace rharness
