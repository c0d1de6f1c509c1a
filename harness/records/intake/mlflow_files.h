// Files that an MLflow server lists and serves: a run's artifacts, or those of a logged model.
//
// Role: private to MLflow's importer.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_FILES_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_FILES_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/net/http.h"
#include "harness/records/intake/mlflow.h"

namespace rharness {

// How to ask a server for a folder: one query for its entries, one for a file in it.
struct MlflowServed {
  std::string list;  // the call, "/api/2.0/mlflow/artifacts/list"
  HttpQuery list_query;
  std::string folder_key;  // the query's name of a subfolder: "path"
  std::string root;        // its place: "mlflow-artifacts:/1/RUN/artifacts", "s3://..."
  std::string file;        // the call for a file that the server does not store itself
  HttpQuery file_query;
  std::string file_key;
};

MlflowServed ServedOfRun(const std::string& run_id, const std::string& root);
MlflowServed ServedOfModel(const std::string& model_id, const std::string& root);

class MlflowFiles {
 public:
  // Both outlive it.
  MlflowFiles(HttpClient* client, const MlflowImport* import) : client_(client), import_(import) {}

  // Path below `served`, size and, if the import asks for them, hash of each file, by path; at most
  // kMostMlflowArtifacts. Unreadable files become remarks. Errors: those of listing.
  Status Read(const MlflowServed& served, std::vector<Artifact>* artifacts,
              std::vector<std::string>* remarks);

 private:
  struct Listing;
  Status List(const std::string& folder, const MlflowServed& served, Listing* listing);
  void Hash(const MlflowServed& served, Artifact* artifact, std::vector<std::string>* remarks);

  HttpClient* client_;
  const MlflowImport* import_;
  int failures_ = 0;  // of downloads, over all
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_FILES_H_
