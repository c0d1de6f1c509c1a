// Logged models of a run as its artifacts.
// Source: mlflow/entities/logged_model_status.py of MLflow 3 (names and numbers of states).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string_view>
#include <tuple>

#include "harness/records/intake/clean.h"
#include "harness/records/intake/mlflow_run.h"

namespace rharness {
namespace {

// The first part of a path; nothing else may be under it.
std::string FirstPart(const std::string& path) { return path.substr(0, path.find('/')); }

// By its spelling in each importer, and by its name.
std::string StatusOf(const MlflowModel& model) {
  constexpr std::array<std::array<std::string_view, 3>, 3> kSpellings = {
      {{"1", "LOGGED_MODEL_PENDING", "PENDING"},
       {"2", "LOGGED_MODEL_READY", "READY"},
       {"3", "LOGGED_MODEL_UPLOAD_FAILED", "FAILED"}}};
  for (const auto& [number, long_name, name] : kSpellings) {
    if (model.status == number || model.status == long_name) return std::string(name);
  }
  return CleanText(model.status, 40);
}

// A name that is one part of a path; empty for others.
std::string AsFolder(const std::string& name) {
  const auto clean = CleanRelativePath(name);
  return clean && *clean == name && name.find('/') == name.npos ? name : std::string();
}

void AddFiles(MlflowModel& model, ImportedRun* run) {
  for (Artifact& artifact : model.artifacts) {
    const std::string where = fmt::format("logged model {} ({}): {}", CleanText(model.name, 100),
                                          CleanText(model.id, 100), artifact.path);
    artifact.path = model.folder + "/" + artifact.path;
    artifact.role = kModelOfTracker;
    run->AddArtifact(std::move(artifact),
                     model.is_output
                         ? Exact(where)
                         : Hint(where, "it names the run, whose outputs do not name it"));
  }
}

}  // namespace

std::string DeletedMlflowModel(const std::string& id) {
  return fmt::format("logged model {} was deleted in MLflow, and left out", QuotedShort(id));
}

bool IsReadyMlflowModel(const MlflowModel& model) { return StatusOf(model) == "READY"; }

void PlaceMlflowModels(MlflowRun* from) {
  std::set<std::string> taken;
  for (const Artifact& artifact : from->artifacts) taken.insert(FirstPart(artifact.path));
  // The last one has the plain name.
  std::ranges::sort(from->models, std::greater<>(), [](const MlflowModel& model) {
    return std::tie(model.step, model.created_ms, model.id);
  });
  for (MlflowModel& model : from->models) {
    const std::string name = AsFolder(model.name), id = AsFolder(model.id);
    if (id.empty() || !IsReadyMlflowModel(model)) continue;
    const std::string folder = name.empty() ? id : name;
    if (taken.insert(folder).second) {
      model.folder = folder;
    } else if (taken.insert(folder + "@" + id).second) {
      model.folder = folder + "@" + id;
    }
  }
}

void AddMlflowModels(MlflowRun& from, ImportedRun* run) {
  for (MlflowModel& model : from.models) {
    const std::string what =
        fmt::format("logged model {} ({})", CleanText(model.name, 100), CleanText(model.id, 100));
    if (!IsReadyMlflowModel(model)) {
      run->Remark(
          fmt::format("{} was left out: its upload did not end well ({})", what, StatusOf(model)));
    } else if (model.folder.empty()) {
      run->Remark(fmt::format("{} was left out: its id can be no folder, or is there twice", what));
    } else {
      AddFiles(model, run);
    }
  }
}

}  // namespace rharness
