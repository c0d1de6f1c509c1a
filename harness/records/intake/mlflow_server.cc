// MLflow's tracking server, by REST.
// Source: mlflow/protos/service.proto of MLflow 3.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "harness/records/intake/clean.h"
#include "harness/records/intake/loose_json.h"
#include "harness/records/intake/mlflow.h"
#include "harness/records/intake/mlflow_credentials.h"
#include "harness/records/intake/mlflow_files.h"
#include "harness/records/intake/server_pages.h"

namespace rharness {
namespace {

constexpr char kApi[] = "/api/2.0/mlflow";
constexpr int kPageOfExperiments = 1000;
constexpr int kPageOfRuns = 100;
constexpr int kPageOfPoints = 10'000;
constexpr int kPageOfModels = 50;

// Calls f(element) for each object of an array; no call for other values: servers leave out empty
// arrays.
template <class F>
void ForObjects(const Json* array, F f) {
  if (array == nullptr || !array->IsArray()) return;
  for (const Json& element : array->AsArray()) {
    if (element.IsObject()) f(element);
  }
}

class MlflowServer {
 public:
  MlflowServer(HttpClient client, MlflowImport* import)
      : client_(std::move(client)), import_(import), files_(&client_, import) {}

  Status Import() {
    if (!import_->request().runs.empty()) return ImportNamed();
    RETURN_IF_ERROR(ReadExperiments());
    for (const auto& [id, name] : experiments_) RETURN_IF_ERROR(ImportExperiment(id));
    return {};
  }

 private:
  Status ImportNamed() {
    for (const std::string& id : import_->request().runs) {
      if (import_->Cancelled()) return {};
      const auto answer = client_.Get(std::string(kApi) + "/runs/get", {{"run_id", id}});
      if (!answer.ok()) {
        if (answer.error().code != ErrorCode::kNotFound) return answer.error();
        import_->Refuse(client_.url(), NotFound("holds no run " + QuotedShort(id)));
        continue;
      }
      const Json* run = answer->Find("run");
      if (run == nullptr) return NoObject("run", "runs/get");
      RETURN_IF_ERROR(ImportRun(*run));
    }
    return {};
  }

  Error NoObject(std::string_view member, std::string_view call) const {
    return InvalidInput(fmt::format("answers without '{}'; expected an MLflow server", member),
                        fmt::format("{}{}/{}", client_.url(), kApi, call));
  }

  Status ReadExperiments() {
    ServerPages pages(client_.url() + kApi + "/experiments/search");
    for (bool more = true; more;) {
      Json body = Json::MakeObject({{"max_results", kPageOfExperiments}, {"view_type", "ALL"}});
      if (!pages.token().empty()) body.Set("page_token", pages.token());
      ASSIGN_OR_RETURN(const Json page,
                       client_.Post(std::string(kApi) + "/experiments/search", body));
      if (!page.IsObject()) return NoObject("experiments", "experiments/search");
      const std::size_t before = experiments_.size();
      ForObjects(page.Find("experiments"), [&](const Json& experiment) {
        experiments_[LooseText(experiment, "experiment_id")] = LooseText(experiment, "name");
      });
      ASSIGN_OR_RETURN(more, pages.Next(page, experiments_.size() - before));
    }
    return {};
  }

  Status ImportExperiment(const std::string& id) {
    ServerPages pages(client_.url() + kApi + "/runs/search");
    for (bool more = true; more;) {
      Json body = Json::MakeObject({{"experiment_ids", Json::MakeArray({Json(id)})},
                                    {"max_results", kPageOfRuns},
                                    {"run_view_type", "ALL"}});
      if (!pages.token().empty()) body.Set("page_token", pages.token());
      ASSIGN_OR_RETURN(const Json page, client_.Post(std::string(kApi) + "/runs/search", body));
      const Json* runs = page.Find("runs");
      const std::size_t before = seen_.size();
      if (runs != nullptr && runs->IsArray()) {
        for (const Json& run : runs->AsArray()) {
          if (import_->Cancelled()) return {};
          RETURN_IF_ERROR(ImportRun(run));
        }
      }
      ASSIGN_OR_RETURN(more, pages.Next(page, seen_.size() - before));
    }
    return {};
  }

  Status ImportRun(const Json& json) {
    const Json* info = json.Find("info");
    std::string id = info == nullptr ? "" : LooseText(*info, "run_id");
    if (id.empty() && info != nullptr) id = LooseText(*info, "run_uuid");
    if (id.empty()) return NoObject("info.run_id", "runs/search");
    if (!seen_.insert(id).second) return {};
    if (LooseText(*info, "lifecycle_stage") == "deleted") {
      import_->CountDeleted();
      return {};
    }
    MlflowRun run;
    run.id = id;
    run.status = LooseText(*info, "status");
    run.started_ms = MlflowInteger(info->Find("start_time")).value_or(0);
    run.ended_ms = MlflowInteger(info->Find("end_time")).value_or(0);
    RETURN_IF_ERROR(NameExperiment(LooseText(*info, "experiment_id"), &run));
    ReadInputs(json.Find("inputs"), &run);
    if (const Json* data = json.Find("data")) RETURN_IF_ERROR(ReadData(*data, &run));
    const Status artifacts = ReadArtifacts(LooseText(*info, "artifact_uri"), &run);
    if (!artifacts.ok()) {
      if (import_->Cancelled()) return {};
      run.remarks.push_back("artifacts: " +
                            Unread(import_->request(), artifacts.error()).ToString());
    }
    ReadModels(LooseText(*info, "experiment_id"), json.Find("outputs"), &run);
    return import_->Take(std::move(run));
  }

  // Of runs that were asked for by their ids, the experiments are not known yet.
  Status NameExperiment(const std::string& id, MlflowRun* run) {
    auto known = experiments_.find(id);
    if (known == experiments_.end()) {
      const auto answer =
          client_.Get(std::string(kApi) + "/experiments/get", {{"experiment_id", id}});
      const Json* experiment = answer.ok() ? answer->Find("experiment") : nullptr;
      known = experiments_.emplace(id, experiment == nullptr ? "" : LooseText(*experiment, "name"))
                  .first;
    }
    run->experiment = known->second.empty() ? id : known->second;
    return {};
  }

  static void ReadInputs(const Json* inputs, MlflowRun* run) {
    if (inputs == nullptr) return;
    ForObjects(inputs->Find("dataset_inputs"), [&](const Json& one) {
      const Json* dataset = one.Find("dataset");
      if (dataset == nullptr || !dataset->IsObject()) return;
      MlflowInput input{LooseText(*dataset, "name"), LooseText(*dataset, "digest"),
                        LooseText(*dataset, "source_type"), LooseText(*dataset, "source"), ""};
      ForObjects(one.Find("tags"), [&](const Json& tag) {
        if (LooseText(tag, "key") == "mlflow.data.context") input.context = LooseText(tag, "value");
      });
      run->inputs.push_back(std::move(input));
    });
    std::ranges::sort(run->inputs, {},
                      [](const MlflowInput& input) { return std::pair(input.name, input.digest); });
  }

  Status ReadData(const Json& data, MlflowRun* run) {
    ForObjects(data.Find("params"), [&](const Json& param) {
      run->params[LooseText(param, "key")] = LooseText(param, "value");
    });
    ForObjects(data.Find("tags"), [&](const Json& tag) {
      run->tags[LooseText(tag, "key")] = LooseText(tag, "value");
    });
    std::set<std::string> names;
    ForObjects(data.Find("metrics"), [&](const Json& metric) {
      const std::string name = LooseText(metric, "key");
      names.insert(name);
      SayMeasuredOn(name, {LooseText(metric, "dataset_name"), LooseText(metric, "dataset_digest")},
                    run);
    });
    std::size_t points = 0;
    for (const std::string& name : names) {
      if (import_->Cancelled()) return {};
      auto& metric = run->metrics[name];
      if (IsMlflowSystemMetric(name)) continue;
      RETURN_IF_ERROR(ReadHistory(name, &metric, &points, run));
    }
    return {};
  }

  Status ReadHistory(const std::string& name, std::vector<MlflowPoint>* metric, std::size_t* points,
                     MlflowRun* run) {
    const std::string path = std::string(kApi) + "/metrics/get-history";
    ServerPages pages(client_.url() + path);
    for (bool more = true; more;) {
      HttpQuery query = {{"run_id", run->id},
                         {"metric_key", name},
                         {"max_results", std::to_string(kPageOfPoints)}};
      if (!pages.token().empty()) query.emplace_back("page_token", pages.token());
      ASSIGN_OR_RETURN(const Json page, client_.Get(path, query));
      const std::size_t before = metric->size();
      ForObjects(page.Find("metrics"), [&](const Json& point) {
        const auto value =
            point.Find("value") == nullptr ? std::nullopt : MlflowNumber(*point.Find("value"));
        if (!value) {
          run->remarks.push_back(
              fmt::format("metric {}: a value that is no number was left out", QuotedShort(name)));
        } else if (++*points <= kMostMlflowPoints) {
          metric->push_back({MlflowInteger(point.Find("timestamp")).value_or(0),
                             MlflowInteger(point.Find("step")).value_or(0), *value});
          SayMeasuredOn(
              name, {LooseText(point, "dataset_name"), LooseText(point, "dataset_digest")}, run);
        }
      });
      if (*points > kMostMlflowPoints) {
        run->remarks.push_back(
            fmt::format("metric {}: the run has more than {} values; the others "
                        "were left out",
                        QuotedShort(name), kMostMlflowPoints));
        return {};
      }
      ASSIGN_OR_RETURN(more, pages.Next(page, metric->size() - before));
    }
    return {};
  }

  Status ReadArtifacts(const std::string& root, MlflowRun* run) {
    return files_.Read(ServedOfRun(run->id, root), &run->artifacts, &run->remarks);
  }

  // Logged models that the run's outputs name, or that name the run. What cannot be read of one
  // becomes a remark.
  void ReadModels(const std::string& experiment, const Json* outputs, MlflowRun* run) {
    std::map<std::string, MlflowModel> wanted;
    const auto listed = ModelsOf(experiment);
    if (!listed.ok())
      run->remarks.push_back("logged models: " +
                             Unread(import_->request(), listed.error()).ToString());
    if (listed.ok()) {
      for (const auto& [id, json] : **listed) {
        const Json* info = json.Find("info");
        if (info != nullptr && LooseText(*info, "source_run_id") == run->id) wanted[id].id = id;
      }
    }
    const Json* list = outputs == nullptr ? nullptr : outputs->Find("model_outputs");
    ForObjects(list, [&](const Json& output) {
      const std::string id = LooseText(output, "model_id");
      MlflowModel& model = wanted[id];
      model.id = id;
      model.is_output = true;
      model.step = MlflowInteger(output.Find("step")).value_or(0);
    });
    for (auto& [id, model] : wanted) {
      if (import_->Cancelled()) return;
      if (run->models.size() >= kMostMlflowModels) {
        run->remarks.push_back(
            fmt::format("logged models: {}; those after the first {} were left "
                        "out",
                        wanted.size(), kMostMlflowModels));
        return;
      }
      const Status read = ReadModel(experiment, &model, run);
      if (read.ok()) {
        run->models.push_back(std::move(model));
      } else if (read.error().code == ErrorCode::kNotFound) {
        run->remarks.push_back(DeletedMlflowModel(id));
      } else {
        run->remarks.push_back(
            fmt::format("logged model {}: {}", QuotedShort(id), read.error().ToString()));
      }
    }
  }

  // Of an experiment, by id. Servers before MLflow 3 have none.
  using Models = std::map<std::string, Json>;
  Result<const Models*> ModelsOf(const std::string& experiment) {
    const auto there = models_.find(experiment);
    if (there != models_.end()) return &there->second;
    Models models;
    ServerPages pages(client_.url() + kApi + "/logged-models/search");
    for (bool more = !no_models_; more && !import_->Cancelled();) {
      Json body = Json::MakeObject({{"experiment_ids", Json::MakeArray({Json(experiment)})},
                                    {"max_results", kPageOfModels}});
      if (!pages.token().empty()) body.Set("page_token", pages.token());
      const auto page = client_.Post(std::string(kApi) + "/logged-models/search", body);
      no_models_ = !page.ok() && page.error().code == ErrorCode::kNotFound;
      if (no_models_) break;
      if (!page.ok()) return page.error();
      const std::size_t before = models.size();
      ForObjects(page->Find("models"), [&](const Json& model) {
        const Json* info = model.Find("info");
        if (info != nullptr) models[LooseText(*info, "model_id")] = model;
      });
      ASSIGN_OR_RETURN(more, pages.Next(*page, models.size() - before));
    }
    return &models_.emplace(experiment, std::move(models)).first->second;
  }

  Result<Json> ModelAt(const std::string& experiment, const std::string& id) {
    ASSIGN_OR_RETURN(const Models* listed, ModelsOf(experiment));
    if (const auto found = listed->find(id); found != listed->end()) return found->second;
    ASSIGN_OR_RETURN(const Json answer,
                     client_.Get(fmt::format("{}/logged-models/{}", kApi, EscapedForUrl(id)), {}));
    const Json* model = answer.Find("model");
    if (model == nullptr) return NoObject("model", "logged-models");
    return *model;
  }

  Status ReadModel(const std::string& experiment, MlflowModel* model, MlflowRun* run) {
    ASSIGN_OR_RETURN(const Json found, ModelAt(experiment, model->id));
    const Json* info = found.Find("info");
    if (info == nullptr || !info->IsObject()) return NoObject("model.info", "logged-models");
    model->name = LooseText(*info, "name");
    model->status = LooseText(*info, "status");
    model->created_ms = MlflowInteger(info->Find("creation_timestamp_ms")).value_or(0);
    if (const Json* data = found.Find("data"); data != nullptr && data->IsObject()) {
      ForObjects(data->Find("metrics"), [&](const Json& metric) {
        if (LooseText(metric, "run_id") != run->id) return;
        SayMeasuredOn(LooseText(metric, "key"),
                      {LooseText(metric, "dataset_name"), LooseText(metric, "dataset_digest")},
                      run);
      });
    }
    if (!IsReadyMlflowModel(*model)) return {};
    return files_.Read(ServedOfModel(model->id, LooseText(*info, "artifact_uri")),
                       &model->artifacts, &run->remarks);
  }

  HttpClient client_;
  MlflowImport* import_;
  std::map<std::string, std::string> experiments_;  // id to name
  std::set<std::string> seen_;                      // runs
  std::map<std::string, Models> models_;            // logged ones, by experiment
  bool no_models_ = false;                          // the server knows none
  MlflowFiles files_;
};

}  // namespace

Status ImportMlflowServer(const std::string& url, MlflowImport* import) {
  ASSIGN_OR_RETURN(HttpClient client,
                   ConnectToMlflow(url, EnvironmentVariable, import->request().should_cancel));
  return MlflowServer(std::move(client), import).Import();
}

}  // namespace rharness
