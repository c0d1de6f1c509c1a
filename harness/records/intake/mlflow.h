// The readers of MLflow's records, one file each; mlflow.cc selects one for a source.
//
// Role: private to MLflow's importer.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_H_

#include <cstddef>
#include <filesystem>
#include <string>

#include "harness/records/intake/intake.h"
#include "harness/records/intake/mlflow_run.h"

namespace rharness {

// The state of an import, for every reader.
class MlflowImport {
 public:
  MlflowImport(const ImportRequest& request, const ImportSink& sink)
      : request_(request), sink_(sink) {}
  const ImportRequest& request() const { return request_; }
  bool Cancelled() const { return request_.should_cancel && request_.should_cancel(); }
  Status Take(MlflowRun run);
  void Refuse(const std::string& where, const Error& why) { sink_.refuse(where, why); }
  void CountDeleted() { ++deleted_; }
  // Reports the number of deleted runs left out; not_found if there was no other run.
  Status Finish() const;

 private:
  const ImportRequest& request_;
  const ImportSink& sink_;
  std::size_t taken_ = 0;
  std::size_t deleted_ = 0;
};

// mlflow_folder.cc: a file store, which has experiments as folders.
bool IsMlflowFolder(const std::filesystem::path& folder);
// Whether one of its experiments has a run, deleted ones included.
bool HasMlflowRuns(const std::filesystem::path& folder);
Status ImportMlflowFolder(const std::filesystem::path& folder, MlflowImport* import);

// mlflow_database.cc: a tracking server's SQLite file. Never changes it: without a write-ahead log
// beside it, it counts as a file without writers, and is refused (io) if it was written to.
bool IsMlflowDatabase(const std::filesystem::path& file);
Status ImportMlflowDatabase(const std::filesystem::path& file, MlflowImport* import);

// mlflow_server.cc: a tracking server, by REST.
Status ImportMlflowServer(const std::string& url, MlflowImport* import);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_H_
