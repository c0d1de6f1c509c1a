// MLflow's file store: EXPERIMENT/RUN/{meta.yaml,params,metrics,tags,inputs,artifacts}.
// Source: mlflow/store/tracking/file_store.py of MLflow 3.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "harness/base/files.h"
#include "harness/net/yaml.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/local_files.h"
#include "harness/records/intake/loose_json.h"
#include "harness/records/intake/mlflow.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostMetaBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kMostValueBytes = std::uint64_t{1} << 20;  // of a param or tag
constexpr std::size_t kMostEntries = 1'000'000;                    // of a folder
constexpr int kMostDepth = 32;

// Folders beside experiments and runs that are neither.
bool IsReserved(const std::string& name) {
  constexpr std::array<std::string_view, 4> kReserved = {"tags", "datasets", "traces", "models"};
  return name.starts_with('.') || std::ranges::find(kReserved, name) != kReserved.end();
}

// meta.yaml as texts: ids may look like numbers.
Result<Json> ReadMeta(const fs::path& root, const fs::path& folder) {
  const fs::path file = folder / "meta.yaml";
  ASSIGN_OR_RETURN(const std::string text, ReadBelow(root, file, kMostMetaBytes));
  ASSIGN_OR_RETURN(Json meta, ParseYamlAsJson(text, (root / file).string(), YamlScalars::kText));
  if (!meta.IsObject()) return InvalidInput("expected a mapping", (root / file).string());
  return meta;
}

// The names of the folders in a folder, sorted; ignores links.
Result<std::vector<std::string>> FoldersIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entries(folder, error), end;
  for (; !error && entries != end; entries.increment(error)) {
    std::error_code unread;
    if (!fs::is_directory(entries->symlink_status(unread))) continue;
    if (names.size() >= kMostEntries) {
      return InvalidInput(fmt::format("more than {} folders", kMostEntries), folder.string());
    }
    names.push_back(entries->path().filename().string());
  }
  if (error) return IoError("cannot be listed: " + error.message(), folder.string());
  std::ranges::sort(names);
  return names;
}

// Logged models of an experiment, by the run that they name.
using ModelsByRun = std::multimap<std::string, std::string>;

ModelsByRun FindModels(const fs::path& root, const fs::path& experiment) {
  ModelsByRun models;
  std::error_code error;
  const fs::path folder = experiment / "models";
  if (!fs::is_directory(fs::symlink_status(root / folder, error))) return models;
  const auto names = FoldersIn(root / folder);
  if (!names.ok()) return models;
  for (const std::string& id : *names) {
    const auto meta = ReadMeta(root, folder / id);
    if (meta.ok()) models.emplace(LooseText(*meta, "source_run_id"), id);
  }
  return models;
}

// Reads one run; unreadable parts become remarks.
class FolderRun {
 public:
  FolderRun(const fs::path& root, fs::path experiment, fs::path folder, const ModelsByRun& models,
            const ImportRequest& request, MlflowRun* run)
      : root_(root),
        experiment_(std::move(experiment)),
        folder_(std::move(folder)),
        models_(models),
        request_(request),
        run_(run) {}

  Status Read() {
    ReadValues("params", &run_->params);
    ReadValues("tags", &run_->tags);
    ForFiles("metrics", [&](const std::string& name, const fs::path& file) {
      if (IsMlflowSystemMetric(name)) {
        run_->metrics[name];
      } else {
        ReadMetric(name, file);
      }
    });
    ReadInputs();
    ASSIGN_OR_RETURN(LocalFiles files, ListLocalFiles(root_ / folder_ / "artifacts", request_));
    run_->artifacts = std::move(files.artifacts);
    for (std::string& remark : files.remarks) {
      run_->remarks.push_back("artifacts: " + std::move(remark));
    }
    ReadModels();
    return {};
  }

 private:
  void Remark(const fs::path& file, const Error& why) {
    Remark(file, Unread(request_, why).message);
  }
  void Remark(const fs::path& file, const std::string& why) {
    run_->remarks.push_back(fmt::format("{}: {}", file.lexically_relative(folder_).string(), why));
  }

  // Calls f(name, file) for each file below a folder of the run; names have '/' for subfolders.
  template <class F>
  void ForFiles(const char* part, F f) {
    const fs::path start = root_ / folder_ / part;
    std::error_code error;
    if (!fs::is_directory(fs::symlink_status(start, error))) return;
    std::set<std::string> names;
    fs::recursive_directory_iterator entries(start, error), end;
    for (; !error && entries != end; entries.increment(error)) {
      std::error_code unread;
      const fs::file_status status = entries->symlink_status(unread);
      if (entries.depth() >= kMostDepth) entries.disable_recursion_pending();
      if (fs::is_directory(status)) continue;
      const std::string name = entries->path().lexically_relative(start).string();
      if (!fs::is_regular_file(status)) {
        Remark(folder_ / part / name, "is no file, and was left out");
      } else if (names.size() < kMostEntries) {
        names.insert(name);
      }
    }
    if (error) Remark(folder_ / part, IoError("cannot be listed: " + error.message()));
    for (const std::string& name : names) f(name, folder_ / part / name);
  }

  void ReadValues(const char* part, std::map<std::string, std::string>* values) {
    ForFiles(part, [&](const std::string& name, const fs::path& file) {
      auto text = ReadBelow(root_, file, kMostValueBytes);
      if (!text.ok()) return Remark(file, text.error());
      if (text->ends_with('\n')) text->pop_back();
      (*values)[name] = std::move(*text);
    });
  }

  void ReadMetric(const std::string& name, const fs::path& file) {
    const auto text = ReadBelow(root_, file, kMostMlflowMetricBytes);
    if (!text.ok()) return Remark(file, text.error());
    run_->metrics[name] = ParseMlflowMetricFile(
        *text, &points_, [&](const std::string& why) { Remark(file, why); },
        [&](std::pair<std::string, std::string> set) {
          SayMeasuredOn(name, std::move(set), run_);
        });
  }

  void ReadInputs() {
    const fs::path inputs = folder_ / "inputs";
    std::error_code error;
    if (!fs::is_directory(fs::symlink_status(root_ / inputs, error))) return;
    const auto names = FoldersIn(root_ / inputs);
    if (!names.ok()) return Remark(inputs, names.error());
    for (const std::string& name : *names) {
      const Status status = ReadInput(inputs / name);
      if (!status.ok()) Remark(inputs / name, status.error());
    }
  }

  Status ReadInput(const fs::path& folder) {
    ASSIGN_OR_RETURN(const Json meta, ReadMeta(root_, folder));
    if (LooseText(meta, "source_type") != "DATASET") return {};  // a model
    ASSIGN_OR_RETURN(const fs::path id,
                     SafeRelativePath(LooseText(meta, "source_id"), "source_id"));
    ASSIGN_OR_RETURN(const Json dataset, ReadMeta(root_, experiment_ / "datasets" / id));
    MlflowInput input;
    input.name = LooseText(dataset, "name");
    input.digest = LooseText(dataset, "digest");
    input.source_type = LooseText(dataset, "source_type");
    input.source = LooseText(dataset, "source");
    if (const Json* tags = meta.Find("tags"))
      input.context = LooseText(*tags, "mlflow.data.context");
    run_->inputs.push_back(std::move(input));
    return {};
  }

  // Logged models that the run's outputs name, or that name the run.
  void ReadModels() {
    std::map<std::string, MlflowModel> models;
    const auto [begin, end] = models_.equal_range(run_->id);
    for (auto at = begin; at != end; ++at) models[at->second].id = at->second;
    const fs::path outputs = folder_ / "outputs";
    std::error_code error;
    if (fs::is_directory(fs::symlink_status(root_ / outputs, error))) {
      const auto names = FoldersIn(root_ / outputs);
      if (!names.ok()) return Remark(outputs, names.error());
      for (const std::string& name : *names) {
        const auto meta = ReadMeta(root_, outputs / name);
        if (!meta.ok()) {
          Remark(outputs / name, meta.error());
        } else if (LooseText(*meta, "destination_type") == "MODEL_OUTPUT") {
          const std::string id = LooseText(*meta, "destination_id");
          models[id].id = id;
          models[id].is_output = true;
          models[id].step = MlflowInteger(meta->Find("step")).value_or(0);
        }
      }
    }
    for (auto& [id, model] : models) {
      if (run_->models.size() >= kMostMlflowModels) {
        return run_->remarks.push_back(
            fmt::format("logged models: {}; those after the first {} were left out", models.size(),
                        kMostMlflowModels));
      }
      const Status status = ReadModel(&model);
      if (!status.ok() && status.error().code != ErrorCode::kNotFound) {
        run_->remarks.push_back(fmt::format("logged model {}: {}", QuotedShort(id),
                                            Unread(request_, status.error()).ToString()));
      } else if (!status.ok() && model.is_output) {
        run_->remarks.push_back(DeletedMlflowModel(id));
      } else if (status.ok()) {
        run_->models.push_back(std::move(model));
      }
    }
  }

  // Errors: not_found for one that was deleted.
  Status ReadModel(MlflowModel* model) {
    ASSIGN_OR_RETURN(const fs::path id, SafeRelativePath(model->id, "model_id"));
    const fs::path folder = experiment_ / "models" / id;
    ASSIGN_OR_RETURN(const Json meta, ReadMeta(root_, folder));
    if (LooseText(meta, "lifecycle_stage") == "deleted") return NotFound("was deleted");
    model->name = LooseText(meta, "name");
    model->status = LooseText(meta, "status");
    model->created_ms = MlflowInteger(meta.Find("creation_timestamp")).value_or(0);
    if (!IsReadyMlflowModel(*model)) return {};
    ASSIGN_OR_RETURN(LocalFiles files, ListLocalFiles(root_ / folder / "artifacts", request_));
    model->artifacts = std::move(files.artifacts);
    for (std::string& remark : files.remarks) {
      run_->remarks.push_back(
          fmt::format("logged model {}: {}", QuotedShort(model->id), std::move(remark)));
    }
    return {};
  }

  const fs::path& root_;
  fs::path experiment_, folder_;  // below the root
  const ModelsByRun& models_;
  const ImportRequest& request_;
  MlflowRun* run_;
  std::size_t points_ = 0;
};

// Old stores have the status as its number.
std::string StatusName(const std::string& status) {
  constexpr std::array<const char*, 6> kNames = {"",         "RUNNING", "SCHEDULED",
                                                 "FINISHED", "FAILED",  "KILLED"};
  if (status.size() != 1 || status[0] < '1' || status[0] > '5') return status;
  return kNames[static_cast<std::size_t>(status[0] - '0')];
}

std::int64_t TimeOf(const Json& meta, std::string_view key) {
  return MlflowInteger(meta.Find(key)).value_or(0);
}

// Nothing for a run that was deleted.
Result<std::optional<MlflowRun>> ReadRun(const fs::path& root, const fs::path& experiment,
                                         const std::string& id, const ModelsByRun& models,
                                         const ImportRequest& request) {
  const fs::path folder = experiment / id;
  ASSIGN_OR_RETURN(const Json meta, ReadMeta(root, folder));
  if (LooseText(meta, "lifecycle_stage") == "deleted") return std::optional<MlflowRun>();
  MlflowRun run;
  run.id = id;
  run.status = StatusName(LooseText(meta, "status"));
  run.started_ms = TimeOf(meta, "start_time");
  run.ended_ms = TimeOf(meta, "end_time");
  RETURN_IF_ERROR(FolderRun(root, experiment, folder, models, request, &run).Read());
  return std::optional(std::move(run));
}

Status ImportExperiment(const fs::path& root, const std::string& id, MlflowImport* import) {
  const auto meta = ReadMeta(root, id);
  const auto runs = FoldersIn(root / id);
  if (!meta.ok() || !runs.ok()) {
    import->Refuse((root / id).string(), meta.ok() ? runs.error() : meta.error());
    return {};
  }
  const std::string name = LooseText(*meta, "name");
  const ModelsByRun models = FindModels(root, id);
  for (const std::string& one : *runs) {
    if (import->Cancelled()) return {};
    if (IsReserved(one) || !import->request().Wants(one)) continue;
    auto run = ReadRun(root, id, one, models, import->request());
    if (!run.ok()) {
      import->Refuse((root / id / one).string(), run.error());
    } else if (!*run) {
      import->CountDeleted();
    } else {
      (*run)->experiment = name.empty() ? id : name;
      RETURN_IF_ERROR(import->Take(std::move(**run)));
    }
  }
  return {};
}

}  // namespace

bool IsMlflowFolder(const fs::path& folder) {
  const auto names = FoldersIn(folder);
  if (!names.ok()) return false;
  return std::ranges::any_of(*names, [&](const std::string& name) {
    if (IsReserved(name)) return false;
    const auto meta = ReadMeta(folder, name);
    return meta.ok() && meta->Find("experiment_id") != nullptr &&
           meta->Find("artifact_location") != nullptr;
  });
}

bool HasMlflowRuns(const fs::path& folder) {
  const auto experiments = FoldersIn(folder);
  if (!experiments.ok()) return false;
  return std::ranges::any_of(*experiments, [&](const std::string& experiment) {
    const auto runs = FoldersIn(folder / experiment);
    return !IsReserved(experiment) && runs.ok() &&
           std::ranges::any_of(*runs, [&](const std::string& run) {
             return !IsReserved(run) && ReadMeta(folder, fs::path(experiment) / run).ok();
           });
  });
}

Status ImportMlflowFolder(const fs::path& folder, MlflowImport* import) {
  ASSIGN_OR_RETURN(const auto experiments, FoldersIn(folder));
  for (const std::string& experiment : experiments) {
    if (IsReserved(experiment)) continue;
    RETURN_IF_ERROR(ImportExperiment(folder, experiment, import));
  }
  return {};
}

}  // namespace rharness
