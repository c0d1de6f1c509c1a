// Maps a run of MLflow to a manifest, with the grade of each field.
// Sources: mlflow/utils/mlflow_tags.py (names of tags), mlflow/data/digest_utils.py (digests of the
// first rows), mlflow/store/tracking/file_store.py (lines of metrics), of MLflow 3.
#include "harness/records/intake/mlflow_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>
#include <utility>

#include "compare/curves/printed_number.h"
#include "harness/base/digest.h"
#include "harness/base/shown_url.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/local_files.h"

namespace rharness {
namespace {

std::optional<std::int64_t> IntegerOfText(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string TagOf(const MlflowRun& run, const std::string& name) {
  const auto tag = run.tags.find(name);
  return tag == run.tags.end() ? std::string() : tag->second;
}

WallTime TimeOf(std::int64_t milliseconds) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;  // far beyond the range of SetTimes
  return WallTime(std::chrono::milliseconds(std::clamp<std::int64_t>(milliseconds, -1, kMost)));
}

void SetCode(const MlflowRun& from, ImportedRun* run) {
  const auto tag = [&](const char* name) { return TagOf(from, name); };
  run->SetRepository(tag("mlflow.source.git.repoURL"), Exact("tag mlflow.source.git.repoURL"));
  run->SetCommit(tag("mlflow.source.git.commit"), Exact("tag mlflow.source.git.commit"));
  const std::string dirty = tag("mlflow.source.git.dirty"), diff = tag("mlflow.source.git.diff");
  if (dirty == "true" || dirty == "True" || !diff.empty()) {
    run->SetDirty(true, diff.empty() ? "" : Sha256HexOf(diff),
                  Exact("tag mlflow.source.git.dirty"));
  } else if (dirty == "false" || dirty == "False") {
    run->SetDirty(false, "", Exact("tag mlflow.source.git.dirty"));
  } else if (!tag("mlflow.source.git.commit").empty()) {
    run->Remark("no tag says whether the tree had changes beyond its commit");
  }
  const std::string source = tag("mlflow.source.name");
  if (!source.empty()) {
    run->Remark(
        fmt::format("tag mlflow.source.name: {} is a program without its arguments, and no command",
                    QuotedShort(source)));
  }
  const std::string entry = tag("mlflow.project.entryPoint");
  if (!entry.empty()) {
    run->Remark(
        fmt::format("tag mlflow.project.entryPoint: {} is in the project's MLproject file, "
                    "which has its command",
                    QuotedShort(entry)));
  }
}

void SetImages(const MlflowRun& from, ImportedRun* run) {
  run->SetImage(TagOf(from, "mlflow.docker.image.uri"), Exact("tag mlflow.docker.image.uri"));
  const std::string id = TagOf(from, "mlflow.docker.image.id");
  if (!id.empty()) {
    run->Remark(fmt::format(
        "tag mlflow.docker.image.id: {} names an image on one machine, none in a registry",
        QuotedShort(id)));
  }
}

// MLflow cuts longer values, if configured.
bool MayBeCut(const std::string& value) {
  return value.size() == 250 || value.size() == 500 || value.size() == 6000;
}

void SetParams(const MlflowRun& from, ImportedRun* run) {
  for (const auto& [name, value] : from.params) {
    const std::string where = "params." + name;
    run->SetHyperparameter(name, Json(value),
                           MayBeCut(value)
                               ? Hint(where, "as long as MLflow lets it be; it may have been cut")
                               : Exact(where));
  }
}

// The place of the content in a source's JSON; empty for others, such as notebooks.
std::string PlaceOf(const MlflowInput& input) {
  const auto json = ParseJson(input.source, "");
  if (!json.ok() || !json->IsObject()) return "";
  for (const char* key : {"uri", "url", "path", "table_name", "delta_table_name"}) {
    const Json* place = json->Find(key);
    if (place != nullptr && place->kind() == Json::Kind::kString) return place->AsString();
  }
  return "";
}

// What each data set is called among the run's data.
std::map<std::pair<std::string, std::string>, std::string> SetInputs(const MlflowRun& from,
                                                                     ImportedRun* run) {
  std::map<std::pair<std::string, std::string>, std::string> seen;  // in two contexts it is one
  std::set<std::string> names;
  for (const MlflowInput& input : from.inputs) {
    if (seen.contains({input.name, input.digest})) continue;
    DataItem item;
    // MLflow calls each of them "dataset" that is given no name.
    item.name = names.insert(input.name).second ? input.name : input.name + "#" + input.digest;
    seen[{input.name, input.digest}] = item.name;
    const std::string place = PlaceOf(input);
    if (input.source_type == "local" && CleanPath(place)) {
      item.path = item.location = place;
    } else if (!place.empty()) {
      run->Remark(fmt::format("data: {} was read from {} ({})", QuotedShort(item.name),
                              QuotedShort(WithoutCredentials(place)),
                              CleanText(input.source_type, 60)));
    }
    if (!input.digest.empty()) item.other_digest = "mlflow:" + input.digest;
    run->AddData(std::move(item), Hint(fmt::format("dataset input {}", input.name),
                                       "MLflow's digest is of the first rows alone"));
  }
  return seen;
}

void SetMetrics(MlflowRun& from, ImportedRun* run) {
  std::size_t of_the_machine = 0;
  for (auto& [name, points] : from.metrics) {
    if (IsMlflowSystemMetric(name)) {
      if (name.starts_with("system/")) ++of_the_machine;
      continue;
    }
    if (points.empty()) continue;
    const MlflowOrder order = OrderMlflowPoints(&points);
    if (order.infinities) {
      run->Remark(
          fmt::format("metric {}: {} is how MLflow's databases keep an infinity, and was "
                      "read as one",
                      QuotedShort(name), std::numeric_limits<double>::max()));
    }
    run->AddMetric(name, points.back().value, Exact("metrics." + name));
    if (points.size() < 2) continue;
    std::vector<std::int64_t> steps;
    std::vector<double> values;
    for (const MlflowPoint& point : points) {
      steps.push_back(point.step);
      values.push_back(point.value);
    }
    run->AddCurve(name, std::move(steps), std::move(values),
                  order.counted
                      ? Hint("metrics." + name, "without steps: counted in the order of time")
                      : Exact("metrics." + name));
  }
  if (of_the_machine > 0) {
    run->Remark(
        fmt::format("metrics of the machine's load (system/...), left out: {}", of_the_machine));
  }
}

void SetArtifacts(MlflowRun& from, ImportedRun* run) {
  if (!from.artifacts.empty() || !from.models.empty()) {
    run->Remark("artifacts: paths are those at MLflow, not where the run wrote them");
  }
  for (Artifact& artifact : from.artifacts) {
    artifact.role = RoleByName(artifact.path);
    if (IsCheckpoint(artifact)) {
      run->Remark(fmt::format("artifacts: {} is taken for {} by its name",
                              QuotedShort(artifact.path), artifact.role));
    }
    const std::string where = "artifact " + artifact.path;
    run->AddArtifact(std::move(artifact), Exact(where));
  }
}

}  // namespace

std::optional<double> MlflowNumber(const Json& json) {
  if (json.kind() == Json::Kind::kString) return NumberOfText(json.AsString());
  return json.ToDouble();
}

std::optional<std::int64_t> MlflowInteger(const Json* json) {
  if (json == nullptr) return std::nullopt;
  if (json->kind() == Json::Kind::kString) return IntegerOfText(json->AsString());
  return json->ToInt64();
}

ImportedRun BuildMlflowRun(MlflowRun from, const ImportRequest& request) {
  ImportedRun run("mlflow", request.source, from.id);
  run.SetFamily(from.experiment, Hint("experiment", "its runs may differ in more than noise"));
  run.SetTimes(TimeOf(from.started_ms), TimeOf(from.ended_ms), Exact("start_time, end_time"));
  if (!from.status.empty() && from.status != "FINISHED") {
    run.Remark(fmt::format("the run's status is {}", CleanText(from.status, 60)));
  }
  SetCode(from, &run);
  SetImages(from, &run);
  SetParams(from, &run);
  const auto names = SetInputs(from, &run);
  SetMetrics(from, &run);
  SetMlflowEvalSets(from, names, &run);
  PlaceMlflowModels(&from);
  SetArtifacts(from, &run);
  AddMlflowModels(from, &run);
  for (std::string& remark : from.remarks) run.Remark(std::move(remark));
  return run;
}

}  // namespace rharness
