// MLflow's tracking server, by REST.
// Source: mlflow/protos/service.proto and mlflow_artifacts.proto of MLflow 3; /get-artifact is what
// its own pages ask.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "harness/base/digest.h"
#include "harness/intake/clean.h"
#include "harness/intake/loose_json.h"
#include "harness/intake/mlflow.h"
#include "harness/intake/mlflow_credentials.h"

namespace rharness {
namespace {

constexpr char kApi[] = "/api/2.0/mlflow";
constexpr int kPageOfExperiments = 1000;
constexpr int kPageOfRuns = 100;
constexpr int kPageOfPoints = 10'000;
constexpr std::size_t kMostEmptyPages = 100;
constexpr std::size_t kMostFolders = 10'000;                           // of one run's artifacts
constexpr std::uint64_t kMostArtifactBytes = std::uint64_t{64} << 30;  // to be hashed
constexpr int kMostFailures = 3;  // of downloads that a server fails

// f(element) of each object of an array; nothing for what is none: empty arrays are left out.
template <class F>
void ForObjects(const Json* array, F f) {
  if (array == nullptr || !array->IsArray()) return;
  for (const Json& element : array->AsArray()) {
    if (element.IsObject()) f(element);
  }
}

// The pages of a list end when a server says so, and must go on until then.
class ServerPages {
 public:
  explicit ServerPages(std::string what) : what_(std::move(what)) {}
  const std::string& token() const { return token_; }
  // Whether there is another one after this. Errors: invalid_input for a token that was there
  // before, and for pages without anything on them, one after the other.
  Result<bool> Next(const Json& page, std::size_t elements) {
    token_ = LooseText(page, "next_page_token");
    if (token_.empty()) return false;
    empty_ = elements == 0 ? empty_ + 1 : 0;
    if (!seen_.insert(Sha256HexOf(token_)).second || empty_ > kMostEmptyPages) {
      return InvalidInput("the server's pages do not end; expected each to bring more", what_);
    }
    return true;
  }

 private:
  std::string what_;
  std::string token_;
  std::set<std::string> seen_;
  std::size_t empty_ = 0;
};

class MlflowServer {
 public:
  MlflowServer(HttpClient client, MlflowImport* import)
      : client_(std::move(client)), import_(import) {}

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
      run.remarks.push_back("artifacts: " + artifacts.error().ToString());
    }
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
    std::vector<std::string> folders = {""};
    std::set<std::string> visited = {""};
    while (!folders.empty()) {
      const std::string folder = std::move(folders.back());
      folders.pop_back();
      RETURN_IF_ERROR(ListArtifacts(folder, &folders, &visited, run));
    }
    std::ranges::sort(run->artifacts, {}, &Artifact::path);
    if (!import_->request().artifacts) return {};
    for (Artifact& artifact : run->artifacts) {
      if (import_->Cancelled()) return {};
      HashArtifact(root, &artifact, run);
    }
    return {};
  }

  Status ListArtifacts(const std::string& folder, std::vector<std::string>* folders,
                       std::set<std::string>* visited, MlflowRun* run) {
    const std::string path = std::string(kApi) + "/artifacts/list";
    ServerPages pages(client_.url() + path);
    for (bool more = true; more;) {
      HttpQuery query = {{"run_id", run->id}};
      if (!folder.empty()) query.emplace_back("path", folder);
      if (!pages.token().empty()) query.emplace_back("page_token", pages.token());
      ASSIGN_OR_RETURN(const Json page, client_.Get(path, query));
      std::size_t elements = 0;
      ForObjects(page.Find("files"), [&](const Json& file) {
        ++elements;
        AddListed(folder, file, folders, visited, run);
      });
      ASSIGN_OR_RETURN(more, pages.Next(page, elements));
    }
    return {};
  }

  // What a server lists must lie below the folder that it was asked for.
  static void AddListed(const std::string& folder, const Json& file,
                        std::vector<std::string>* folders, std::set<std::string>* visited,
                        MlflowRun* run) {
    const std::string path = LooseText(file, "path");
    const auto clean = CleanRelativePath(path);
    if (!clean || *clean != path || (!folder.empty() && !path.starts_with(folder + "/"))) {
      run->remarks.push_back(fmt::format("artifacts: {} was left out; expected a path below {}",
                                         QuotedShort(path), QuotedShort(folder)));
      return;
    }
    if (!visited->insert(path).second) return;
    const Json* is_folder = file.Find("is_dir");
    if (is_folder != nullptr && is_folder->kind() == Json::Kind::kBool && is_folder->AsBool()) {
      if (visited->size() < kMostFolders) folders->push_back(path);
    } else if (run->artifacts.size() < kMostMlflowArtifacts) {
      Artifact& artifact = run->artifacts.emplace_back();
      artifact.path = path;
      const auto size = MlflowInteger(file.Find("file_size"));
      artifact.size_bytes = size && *size > 0 ? static_cast<std::uint64_t>(*size) : 0;
    }
  }

  // Of a server that keeps artifacts itself ("mlflow-artifacts:/1/RUN/artifacts"), its interface
  // for them; of others, where its own pages get them.
  static std::pair<std::string, HttpQuery> AddressOf(const std::string& root,
                                                     const Artifact& artifact,
                                                     const MlflowRun& run) {
    constexpr std::string_view kKept = "mlflow-artifacts:";
    std::string_view rest = root;
    if (!root.starts_with(kKept)) {
      return {"/get-artifact", {{"run_uuid", run.id}, {"path", artifact.path}}};
    }
    rest.remove_prefix(kKept.size());
    if (rest.starts_with("//")) rest.remove_prefix(std::min(rest.find('/', 2), rest.size()));
    std::string path = "/api/2.0/mlflow-artifacts/artifacts";
    for (const auto& part : std::filesystem::path(rest).relative_path() / artifact.path) {
      path += "/" + EscapedForUrl(part.string());
    }
    return {path, {}};
  }

  void HashArtifact(const std::string& root, Artifact* artifact, MlflowRun* run) {
    if (failures_ >= kMostFailures) {
      run->remarks.push_back(fmt::format("artifacts: {} was not read, after other failures",
                                         QuotedShort(artifact->path)));
      return;
    }
    const auto [path, query] = AddressOf(root, *artifact, *run);
    Sha256 hash;
    std::uint64_t bytes = 0;
    const Status status = client_.Fetch(
        path, query, artifact->size_bytes == 0 ? kMostArtifactBytes : artifact->size_bytes,
        [&] {
          hash = Sha256();
          bytes = 0;
        },
        [&](std::string_view piece) {
          hash.Update(piece);
          bytes += piece.size();
        });
    if (!status.ok()) {
      if (status.error().code == ErrorCode::kIo || status.error().code == ErrorCode::kTimeout) {
        ++failures_;
      }
      run->remarks.push_back(
          fmt::format("artifacts: {}: {}", QuotedShort(artifact->path), status.error().ToString()));
    } else if (artifact->size_bytes != 0 && bytes != artifact->size_bytes) {
      run->remarks.push_back(fmt::format("artifacts: {}: {} bytes came; expected {}",
                                         QuotedShort(artifact->path), bytes, artifact->size_bytes));
    } else {
      artifact->size_bytes = bytes;
      artifact->sha256 = ToHex(hash.Finish());
    }
  }

  HttpClient client_;
  MlflowImport* import_;
  std::map<std::string, std::string> experiments_;  // id to name
  std::set<std::string> seen_;                      // runs
  int failures_ = 0;
};

}  // namespace

Status ImportMlflowServer(const std::string& url, MlflowImport* import) {
  ASSIGN_OR_RETURN(HttpClient client,
                   ConnectToMlflow(url, EnvironmentVariable, import->request().should_cancel));
  return MlflowServer(std::move(client), import).Import();
}

}  // namespace rharness
