// A run of MLflow from any reader, and its mapping to a manifest.
//
// Role: private to MLflow's importer: one reader per source (a folder, a database, a server) fills
// in a MlflowRun, and one function makes a manifest of it, so that the same run gives the same
// manifest.
#ifndef RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_RUN_H_
#define RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_RUN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/curves/mlflow_metrics.h"
#include "harness/base/json.h"
#include "harness/records/intake/intake.h"

namespace rharness {

struct MlflowInput {  // a logged data set
  std::string name;
  std::string digest;       // MLflow's: of its first rows
  std::string source_type;  // "local", "http", "s3", "code", ...
  std::string source;       // JSON: {"uri": ...}, {"url": ...}, {"path": ...}
  std::string context;      // "training", "eval"; often empty
};

// A logged model (MLflow 3): its files lie outside of its run's artifacts.
struct MlflowModel {
  std::string id;      // "m-..."
  std::string name;    // as logged; several of a run may share it
  std::string status;  // as in its source: "LOGGED_MODEL_READY", "2"
  std::int64_t created_ms = 0;
  std::int64_t step = 0;
  bool is_output = false;           // the run's outputs name it; else only the model names the run
  std::vector<Artifact> artifacts;  // paths are below the model
  std::string folder;               // among the run's artifacts; set by PlaceMlflowModels
};

struct MlflowRun {
  std::string id;
  std::string experiment;       // its name; its id if it has none
  std::string status;           // "FINISHED", "FAILED", "KILLED", "RUNNING", "SCHEDULED" or empty
  std::int64_t started_ms = 0;  // since 1970; 0: not known
  std::int64_t ended_ms = 0;
  std::map<std::string, std::string> params;
  std::map<std::string, std::string> tags;
  MlflowMetrics metrics;
  std::vector<MlflowInput> inputs;
  // By metric, the name and digest of the data set that it was logged with; two empty ones for
  // several.
  std::map<std::string, std::pair<std::string, std::string>> measured_on;
  std::vector<Artifact> artifacts;  // without roles until the manifest is made
  std::vector<MlflowModel> models;
  std::vector<std::string> remarks;
};

inline constexpr std::size_t kMostMlflowArtifacts = 100'000;  // of one run; more are a remark
inline constexpr std::size_t kMostMlflowModels = 1000;        // logged models of one run; likewise

// The remark about an output that no longer exists.
std::string DeletedMlflowModel(const std::string& id);
// Whether all its files exist, by its status.
bool IsReadyMlflowModel(const MlflowModel& model);

// Notes the data set of a logged value of the metric; an empty name: none.
void SayMeasuredOn(const std::string& metric, std::pair<std::string, std::string> set,
                   MlflowRun* run);

// Also of a text, as servers write NaN.
std::optional<double> MlflowNumber(const Json& json);
// Numbers and texts of digits, as servers write 64 bits.
std::optional<std::int64_t> MlflowInteger(const Json* json);

// Names of data by data set, as added to `run`. A metric counts as measured on the set that it was
// logged with; else, by its name ("test_..."), on the only one of a context of evaluation.
void SetMlflowEvalSets(const MlflowRun& from,
                       const std::map<std::pair<std::string, std::string>, std::string>& names,
                       ImportedRun* run);

// Gives each logged model of the run a folder among its artifacts: the model's name; for several of
// one name, and if the run's own artifacts have the name, "NAME@ID", but for the last one.
void PlaceMlflowModels(MlflowRun* from);
// Adds their files as artifacts of the role "model": exact if the run's outputs name the model,
// else hints. Models that are not ready are remarks.
void AddMlflowModels(MlflowRun& from, ImportedRun* run);

// Pure. Points are in any order.
ImportedRun BuildMlflowRun(MlflowRun run, const ImportRequest& request);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_RECORDS_INTAKE_MLFLOW_RUN_H_
