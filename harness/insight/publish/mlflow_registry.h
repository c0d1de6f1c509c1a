// An MLflow server's data on a model version, or on a run that may become one.
//
// Role: the effects of the registry's gate; registration.h decides.
#ifndef RHARNESS_HARNESS_INSIGHT_PUBLISH_MLFLOW_REGISTRY_H_
#define RHARNESS_HARNESS_INSIGHT_PUBLISH_MLFLOW_REGISTRY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/net/http.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

struct RegistryFile {
  std::string path;  // below what is registered
  std::uint64_t size_bytes = 0;
  std::string sha256;  // empty: not hashed
  // Of a logged model, without MLflow's own description files (MLmodel, conda.yaml).
  bool of_model = false;
  std::string record_path = {};  // its path in an import, for a logged model; empty: `path`
};

struct RegistryModel {  // a logged model of a run
  std::string id;
  std::string name;
  std::string root;  // where its files lie
};

struct RegistryEntry {
  std::string name;       // for people: "model iris version 2", "run 97a7..."
  std::string run_id;     // at MLflow; empty: a version without a run
  bool deleted = false;   // the run is in the trash
  bool is_model = false;  // a version of a logged model (MLflow 3)
  std::string root;       // place of its files: "mlflow-artifacts:/1/models/m-.../artifacts"
  std::vector<RegistryModel> models;   // of a run: the models that its outputs name
  std::optional<RegistryModel> model;  // of a version: its logged model
  std::vector<RegistryFile> files;
  std::string unread;  // why its files could not be read; empty: they were
};

// The version, or the newest one if none is given. Errors: not_found (no such model, version or
// run), those of HttpClient.
Result<RegistryEntry> FindModelVersion(HttpClient* client, const std::string& model,
                                       std::optional<std::uint64_t> version);
Result<RegistryEntry> FindRegistryRun(HttpClient* client, const std::string& run_id);

// Whether a loader of models may read a file of this name, whatever the case: weights, a pickle, an
// index of shards, an archive, a library / one that it may read beside weights: code, settings, a
// tokenizer, a model as text.
bool MayBeLoaded(const std::string& path);
bool MayBeLoadedBeside(const std::string& path);

// Lists the entry's files through the server, 10,000 a folder at most, those of a run's logged
// models below their names, and hashes those that could be recorded weights, and of logged models
// and of what may be loaded any recorded file, by their names or sizes, 64 GiB each at most. Files
// that the server does not serve ("s3:" without its proxy), and too many files, set `unread`.
// Errors: those of HttpClient.
Status ReadRegistryFiles(HttpClient* client, const std::vector<Artifact>& recorded,
                         RegistryEntry* entry);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_INSIGHT_PUBLISH_MLFLOW_REGISTRY_H_
