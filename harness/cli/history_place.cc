// A folder in the place of a history.
#include "harness/cli/history_place.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/cli/history_add.h"
#include "harness/drill/journal.h"
#include "harness/history/location.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStore = "runs.db";

std::string HistoryIn(const Json& json) {
  const Json* history = json.Find("history");
  const bool told = history != nullptr && history->kind() == Json::Kind::kString;
  return told ? history->AsString() : std::string();
}

// By its report, or by its settings where it has none yet; empty: it is no drill's folder.
Result<std::string> HistoryOfDrill(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / "report.json", error)) {
    ASSIGN_OR_RETURN(const Json report, ReadJsonFile(folder / "report.json"));
    return HistoryIn(report);
  }
  if (!fs::exists(folder / "journal.jsonl", error)) return std::string();
  ASSIGN_OR_RETURN(const JournalContent journal, ReadJournal(folder / "journal.jsonl"));
  return HistoryIn(journal.header);
}

}  // namespace

Option& AddHistoryOption(Command* verb, std::string* url, const std::string& what) {
  return verb
      ->Add("--history", url,
            what +
                ": a path, sqlite:PATH or postgresql://HOST:PORT/DATABASE; or a folder of "
                "manifests, or a drill's")
      .File("URL")
      .Env("RHARNESS_HISTORY");
}

Result<std::string> HistoryAt(const std::string& given) {
  const auto folder = ParseHistoryUrl(given);
  std::error_code error;
  if (!folder.ok() || !fs::is_directory(*folder, error)) return given;
  ASSIGN_OR_RETURN(std::string of_drill, HistoryOfDrill(*folder));
  if (!of_drill.empty()) return of_drill;
  // As it was given, for the commands that messages advise.
  const std::string shown = given.starts_with("sqlite:") ? folder->string() : given;
  const std::string store = (fs::path(shown) / kStore).lexically_normal().string();
  const Status added = AddNewManifests(store, shown);
  if (added.ok()) return store;
  if (added.error().code == ErrorCode::kNotFound) {
    // Its manifests may have gone since: what was stored of them is there.
    if (fs::exists(store, error)) return store;
    return NotFound(
        "the folder stands for no history; expected *.json files of rharness.manifest/v1, a "
        "drill's report.json, or the file of a history",
        given);
  }
  return added.error();
}

}  // namespace rharness
