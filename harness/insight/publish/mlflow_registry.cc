// Requests to the registry and for its files. Source: mlflow/protos/model_registry.proto and
// mlflow_artifacts.proto of MLflow 3.
#include "harness/insight/publish/mlflow_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "compare/weights/checkpoint_folder.h"
#include "harness/base/digest.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/loose_json.h"
#include "harness/records/intake/mlflow_run.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kRegistryApi[] = "/api/2.0/mlflow/";
constexpr char kFiles[] = "/api/2.0/mlflow-artifacts/artifacts";
constexpr std::size_t kMostFiles = 10'000;
constexpr std::size_t kMostModels = 1000;  // logged models of one run
constexpr std::uint64_t kMostFileBytes = std::uint64_t{64} << 30;

std::string CallAt(std::string_view call) { return std::string(kRegistryApi).append(call); }

Error NoRegistry(const HttpClient& client, std::string_view member) {
  return InvalidInput(fmt::format("answers without '{}'; expected an MLflow server", member),
                      client.url());
}

Result<std::uint64_t> NewestVersion(HttpClient* client, const std::string& model) {
  if (model.find_first_of("'\"\\") != model.npos) {
    return InvalidInput("expected a model's name without quotes", "--model");
  }
  ASSIGN_OR_RETURN(const Json answer, client->Get(CallAt("model-versions/search"),
                                                  {{"filter", fmt::format("name='{}'", model)},
                                                   {"order_by", "version_number DESC"},
                                                   {"max_results", "1"}}));
  std::int64_t newest = 0;
  ForEachElement(answer.Find("model_versions"), [&](const Json& version) {
    newest = std::max(newest, MlflowInteger(version.Find("version")).value_or(0));
  });
  if (newest <= 0) {
    return NotFound(fmt::format("holds no version of a model {}", QuotedShort(model)),
                    client->url());
  }
  return static_cast<std::uint64_t>(newest);
}

// The path below the server's own store of a file that it serves.
std::optional<std::string> ServedPath(std::string_view root) {
  constexpr std::string_view kServed = "mlflow-artifacts:";
  if (!root.starts_with(kServed)) return std::nullopt;
  root.remove_prefix(kServed.size());
  if (root.starts_with("//")) root.remove_prefix(std::min(root.find('/', 2), root.size()));
  return fs::path(root).relative_path().lexically_normal().generic_string();
}

// The files below one folder of the server's store.
class RegistryFiles {
 public:
  RegistryFiles(HttpClient* client, std::string root) : client_(client), root_(std::move(root)) {}

  Status List() {
    std::vector<std::string> folders = {""};
    while (!folders.empty() && !cut_) {
      const std::string folder = std::move(folders.back());
      folders.pop_back();
      RETURN_IF_ERROR(ListFolder(folder, &folders));
    }
    std::ranges::sort(files_, {}, &RegistryFile::path);
    return {};
  }
  std::vector<RegistryFile>& files() { return files_; }
  bool cut() const { return cut_; }  // there are more of them

  Status HashOne(RegistryFile* file) {
    std::string address = kFiles;
    for (const auto& part : fs::path(root_) / file->path) {
      address += "/" + EscapedForUrl(part.string());
    }
    Sha256 hash;
    std::uint64_t bytes = 0;
    const auto restart = [&] { hash = Sha256(), bytes = 0; };
    const auto take = [&](std::string_view piece) {
      hash.Update(piece);
      bytes += piece.size();
    };
    RETURN_IF_ERROR(client_->Fetch(address, {}, kMostFileBytes, restart, take));
    file->size_bytes = bytes;
    file->sha256 = ToHex(hash.Finish());
    return {};
  }

 private:
  Status ListFolder(const std::string& folder, std::vector<std::string>* folders) {
    const std::string at = folder.empty() ? root_ : root_ + "/" + folder;
    ASSIGN_OR_RETURN(const Json answer, client_->Get(kFiles, {{"path", at}}));
    ForEachElement(answer.Find("files"), [&](const Json& file) {
      const std::string said = LooseText(file, "path");
      const auto name = CleanRelativePath(said);
      if (!name || name->find('/') != name->npos) {  // names, by the protocol
        const std::string in = folder.empty() ? "" : folder + "/";
        files_.push_back({in + CleanText(said, 200) + " (no name to ask for)", 0, {}});
        return;
      }
      const std::string path = folder.empty() ? *name : folder + "/" + *name;
      if (!visited_.insert(path).second) return;
      cut_ = cut_ || files_.size() >= kMostFiles || visited_.size() > kMostFiles;
      if (cut_) return;
      if (LooseText(file, "is_dir") == "true") {
        folders->push_back(path);
      } else {
        const auto size = MlflowInteger(file.Find("file_size")).value_or(0);
        files_.push_back({path, static_cast<std::uint64_t>(std::max<std::int64_t>(size, 0)), {}});
      }
    });
    return {};
  }

  HttpClient* client_;
  std::string root_;
  std::vector<RegistryFile> files_;
  std::set<std::string> visited_;
  bool cut_ = false;
};

std::string LowerCase(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

bool EndsWithOneOf(std::string_view name, std::span<const std::string_view> ends) {
  return std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); });
}

bool MayBe(const RegistryFile& file, const Artifact& recorded) {
  const auto fits = [&](const std::string& path, std::uint64_t size) {
    return fs::path(file.path).filename() == fs::path(path).filename() ||
           (size > 0 && size == file.size_bytes);
  };
  return fits(recorded.path, recorded.size_bytes) ||
         std::ranges::any_of(recorded.parts, [&](const ArtifactPart& part) {
           return fits(part.path, part.size_bytes);
         });
}

// What MLflow writes beside a model, and may write anew: its description and its environment.
bool IsDescription(const std::string& path) {
  constexpr std::string_view kNames[] = {"MLmodel",
                                         "conda.yaml",
                                         "python_env.yaml",
                                         "requirements.txt",
                                         "input_example.json",
                                         "serving_input_example.json",
                                         "registered_model_meta"};
  constexpr std::string_view kCopies = "metadata/";  // a registry's copies of some of these
  const std::string_view name =
      path.starts_with(kCopies) ? std::string_view(path).substr(kCopies.size()) : path;
  return std::ranges::find(kNames, name) != std::end(kNames);
}

// The folder below which an import has a logged model's files: its name or its id, and for all but
// the last of several of a name NAME@ID.
std::string RecordFolder(const RegistryModel& model, const std::vector<Artifact>& recorded) {
  for (const std::string& folder : {model.name + "@" + model.id, model.id}) {
    const bool there = std::ranges::any_of(
        recorded, [&](const Artifact& one) { return one.path.starts_with(folder + "/"); });
    if (there && !model.id.empty()) return folder;
  }
  return model.name;
}

// `name`: of a logged model whose files are among a run's; may be empty. `record`: the folder of
// the model in the record; may be empty.
Status ReadRoot(HttpClient* client, const std::string& root, const std::string& name,
                const std::string& record, bool is_model, const std::vector<Artifact>& recorded,
                RegistryEntry* entry) {
  const auto served = ServedPath(root);
  if (!served) {
    entry->unread =
        fmt::format("{} lie at {}, which the server does not hand out",
                    name.empty() ? "they" : "those of " + CleanText(name, 100), QuotedShort(root));
    return {};
  }
  RegistryFiles files(client, *served);
  RETURN_IF_ERROR(files.List());
  if (files.cut()) entry->unread = fmt::format("there are more than {} of them", kMostFiles);
  for (RegistryFile& file : files.files()) {
    file.of_model = is_model && !IsDescription(file.path);
    const bool may_be_loaded =
        file.of_model || MayBeLoaded(file.path) || MayBeLoadedBeside(file.path);
    const bool hashed = std::ranges::any_of(recorded, [&](const Artifact& one) {
      return (may_be_loaded || one.role == "weights") && MayBe(file, one);
    });
    if (hashed) RETURN_IF_ERROR(files.HashOne(&file));
    if (!record.empty()) file.record_path = record + "/" + file.path;
    if (!name.empty()) file.path = name + "/" + file.path;
    entry->files.push_back(std::move(file));
  }
  return {};
}

Result<Json> RunAt(HttpClient* client, const std::string& run_id) {
  ASSIGN_OR_RETURN(const Json answer, client->Get(CallAt("runs/get"), {{"run_id", run_id}}));
  const Json* run = answer.Find("run");
  const Json* info = run == nullptr ? nullptr : run->Find("info");
  if (info == nullptr || !info->IsObject()) return NoRegistry(*client, "run.info");
  return *run;
}

bool IsDeleted(const Json& run) {
  return LooseText(*run.Find("info"), "lifecycle_stage") == "deleted";
}

// Empty: there is none, or none any more.
Result<std::optional<RegistryModel>> FindModel(HttpClient* client, const std::string& id) {
  const std::optional<RegistryModel> none;
  const auto answer = client->Get(CallAt("logged-models/") + EscapedForUrl(id), {});
  if (!answer.ok() && answer.error().code == ErrorCode::kNotFound) return none;
  if (!answer.ok()) return answer.error();
  const Json* model = answer->Find("model");
  const Json* info = model == nullptr ? nullptr : model->Find("info");
  if (info == nullptr || !info->IsObject()) return NoRegistry(*client, "model.info");
  return std::optional(RegistryModel{CleanText(id, 256), CleanText(LooseText(*info, "name"), 256),
                                     LooseText(*info, "artifact_uri")});
}

// One that was deleted is of no run any more.
Status FindModels(HttpClient* client, const Json& run, std::vector<RegistryModel>* models) {
  std::vector<std::string> ids;
  const Json* outputs = run.Find("outputs");
  ForEachElement(outputs == nullptr ? nullptr : outputs->Find("model_outputs"),
                 [&](const Json& output) { ids.push_back(LooseText(output, "model_id")); });
  if (ids.size() > kMostModels) ids.resize(kMostModels);
  for (const std::string& id : ids) {
    ASSIGN_OR_RETURN(auto model, FindModel(client, id));
    if (model) models->push_back(std::move(*model));
  }
  return {};
}

}  // namespace

bool MayBeLoaded(const std::string& path) {
  constexpr std::array<std::string_view, 18> kEnds = {
      ".pkl", ".pickle", ".dill",       ".cloudpickle",    ".skops",  ".pkl.gz",
      ".pb",  ".pbtxt",  ".index.json", "variables.index", ".tflite", ".mar",
      ".zip", ".tar",    ".tar.gz",     "-00000-of-00001", ".so",     ".tgz"};
  const std::string name = LowerCase(path);
  return IsModelName(name) || MayBeCheckpointName(name) || EndsWithOneOf(name, kEnds);
}

bool MayBeLoadedBeside(const std::string& path) {
  constexpr std::array<std::string_view, 7> kEnds = {
      ".py",        "config.json", "tokenizer.json", "tokenizer.model",
      "model.json", "model.txt",   "vocab.json"};
  return EndsWithOneOf(LowerCase(path), kEnds);
}

Result<RegistryEntry> FindModelVersion(HttpClient* client, const std::string& model,
                                       std::optional<std::uint64_t> version) {
  if (!version) {
    ASSIGN_OR_RETURN(version, NewestVersion(client, model));
  }
  const HttpQuery query = {{"name", model}, {"version", std::to_string(*version)}};
  ASSIGN_OR_RETURN(const Json answer, client->Get(CallAt("model-versions/get"), query));
  const Json* found = answer.Find("model_version");
  if (found == nullptr || !found->IsObject()) return NoRegistry(*client, "model_version");
  RegistryEntry entry;
  const std::string run_id = LooseText(*found, "run_id");
  if (!run_id.empty()) {
    const auto run = RunAt(client, run_id);
    if (!run.ok() && run.error().code != ErrorCode::kNotFound) return run.error();
    entry.deleted = !run.ok() || IsDeleted(*run);
  }
  entry.run_id = run_id;
  entry.name = fmt::format("model {} version {}", CleanText(model, 256), *version);
  ASSIGN_OR_RETURN(const Json address,
                   client->Get(CallAt("model-versions/get-download-uri"), query));
  entry.root = LooseText(address, "artifact_uri");
  const std::string model_id = LooseText(*found, "model_id");
  entry.is_model = !model_id.empty() || LooseText(*found, "source").starts_with("models:/m-");
  if (!model_id.empty()) {
    ASSIGN_OR_RETURN(entry.model, FindModel(client, model_id));
  }
  return entry;
}

Result<RegistryEntry> FindRegistryRun(HttpClient* client, const std::string& run_id) {
  ASSIGN_OR_RETURN(const Json run, RunAt(client, run_id));
  RegistryEntry entry;
  entry.name = "run " + CleanText(run_id, 256);
  entry.run_id = run_id;
  entry.deleted = IsDeleted(run);
  entry.root = LooseText(*run.Find("info"), "artifact_uri");
  RETURN_IF_ERROR(FindModels(client, run, &entry.models));
  return entry;
}

Status ReadRegistryFiles(HttpClient* client, const std::vector<Artifact>& recorded,
                         RegistryEntry* entry) {
  const std::string record = entry->model ? RecordFolder(*entry->model, recorded) : "";
  RETURN_IF_ERROR(ReadRoot(client, entry->root, "", record, entry->is_model, recorded, entry));
  for (const RegistryModel& model : entry->models) {
    RETURN_IF_ERROR(ReadRoot(client, model.root, model.name, RecordFolder(model, recorded), true,
                             recorded, entry));
  }
  return {};
}

}  // namespace rharness
