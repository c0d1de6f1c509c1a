// MLflow's SQLite file. Source: mlflow/store/tracking/dbmodels/models.py of MLflow 3.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <system_error>
#include <utility>

#include "compare/curves/mlflow_metrics.h"
#include "harness/base/descriptor.h"
#include "harness/base/shown_url.h"
#include "harness/base/sqlite_file.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/local_files.h"
#include "harness/records/intake/mlflow.h"
#include "harness/records/intake/mlflow_places.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

// Reads the data of a run, row by row.
class DatabaseRun {
 public:
  DatabaseRun(const SqliteFile& database, const fs::path& file, MlflowImport* import)
      : database_(database),
        file_(file),
        import_(import),
        has_inputs_(database.HasTable("inputs") && database.HasTable("datasets") &&
                    database.HasTable("input_tags")),
        has_models_(has_inputs_ && database.HasTable("logged_models") &&
                    database.HasTable("logged_model_metrics")) {}

  Status Read(const std::string& artifact_uri, const std::string& experiment_id,
              MlflowRun* run) const {
    RETURN_IF_ERROR(ReadValues("params", run->id, &run->params));
    RETURN_IF_ERROR(ReadValues("tags", run->id, &run->tags));
    RETURN_IF_ERROR(ReadMlflowMetricRows(
        database_, run->id, &run->metrics,
        [&](std::string remark) { run->remarks.push_back(std::move(remark)); }));
    if (has_inputs_) RETURN_IF_ERROR(ReadInputs(run));
    RETURN_IF_ERROR(ReadArtifacts(artifact_uri, experiment_id, run));
    if (!has_models_) return {};
    Status models = ReadEvalSets(run);
    if (models.ok()) models = ReadModels(run);
    // Their tables are young, and may have other columns one day.
    if (!models.ok())
      run->remarks.push_back("logged models: " +
                             Unread(import_->request(), models.error()).ToString());
    return {};
  }

 private:
  Status ReadValues(const char* table, const std::string& run,
                    std::map<std::string, std::string>* values) const {
    return database_.ForRows(fmt::format("SELECT key, value FROM {} WHERE run_uuid = ?1", table),
                             run, [&](const SqliteFile::Row& row) -> Status {
                               (*values)[row.Text(0)] = row.Text(1);
                               return {};
                             });
  }

  Status ReadInputs(MlflowRun* run) const {
    return database_.ForRows(
        "SELECT d.name, d.digest, d.dataset_source_type, d.dataset_source, t.value FROM inputs i "
        "JOIN datasets d ON d.dataset_uuid = i.source_id "
        "LEFT JOIN input_tags t ON t.input_uuid = i.input_uuid AND t.name = 'mlflow.data.context' "
        "WHERE i.destination_id = ?1 AND i.destination_type = 'RUN' AND i.source_type = 'DATASET' "
        "ORDER BY d.name, d.digest",
        run->id, [&](const SqliteFile::Row& row) -> Status {
          run->inputs.push_back({row.Text(0), row.Text(1), row.Text(2), row.Text(3), row.Text(4)});
          return {};
        });
  }

  // A metric's data set is kept with the logged model that it is of.
  Status ReadEvalSets(MlflowRun* run) const {
    return database_.ForRows(
        "SELECT metric_name, dataset_name, dataset_digest FROM logged_model_metrics "
        "WHERE run_id = ?1",
        run->id, [&](const SqliteFile::Row& row) -> Status {
          SayMeasuredOn(row.Text(0), {row.Text(1), row.Text(2)}, run);
          return {};
        });
  }

  Status ReadArtifacts(const std::string& uri, const std::string& experiment_id,
                       MlflowRun* run) const {
    const auto folder =
        FindMlflowFolder(file_, uri, fmt::format("mlruns/{}/{}/artifacts", experiment_id, run->id));
    if (!folder) {
      if (!uri.empty()) {
        run->remarks.push_back(
            fmt::format("artifacts: {} is not below the database's folder, and was not read",
                        QuotedShort(WithoutCredentials(uri))));
      }
      return {};
    }
    TakeFiles(*folder, "artifacts", &run->artifacts, run);
    return {};
  }

  // Logged models that the run's outputs name, or that name the run.
  Status ReadModels(MlflowRun* run) const {
    std::size_t models = 0;
    RETURN_IF_ERROR(database_.ForRows(
        "SELECT m.model_id, m.name, m.status, m.creation_timestamp_ms, i.step, "
        "i.input_uuid IS NOT NULL, m.artifact_location, m.experiment_id, "
        "m.lifecycle_stage FROM logged_models m "
        "LEFT JOIN inputs i ON i.destination_id = m.model_id AND i.source_id = ?1 "
        "AND i.source_type = 'RUN_OUTPUT' AND i.destination_type = 'MODEL_OUTPUT' "
        "WHERE m.source_run_id = ?1 OR i.source_id = ?1 ORDER BY m.model_id",
        run->id, [&](const SqliteFile::Row& row) -> Status {
          if (++models > kMostMlflowModels || import_->Cancelled()) return {};
          MlflowModel model;
          model.id = row.Text(0);
          model.name = row.Text(1);
          model.status = row.Text(2);
          model.created_ms = row.Integer(3);
          model.step = row.Integer(4);
          model.is_output = row.Integer(5) != 0;
          if (row.Text(8) == "deleted") {
            if (model.is_output) run->remarks.push_back(DeletedMlflowModel(model.id));
            return {};
          }
          if (IsReadyMlflowModel(model)) {
            ReadModelFiles(row.Text(6), row.Text(7), &model, run);
          }
          run->models.push_back(std::move(model));
          return {};
        }));
    if (models > kMostMlflowModels) {
      run->remarks.push_back(fmt::format(
          "logged models: {}; those after the first {} were left out", models, kMostMlflowModels));
    }
    return {};
  }

  void ReadModelFiles(const std::string& uri, const std::string& experiment_id, MlflowModel* model,
                      MlflowRun* run) const {
    const auto folder = FindMlflowFolder(
        file_, uri, fmt::format("mlruns/{}/models/{}/artifacts", experiment_id, model->id));
    const std::string name = fmt::format("logged model {}", QuotedShort(model->id));
    if (!folder) {
      run->remarks.push_back(
          fmt::format("{}: {} is not below the database's folder, and was not read", name,
                      QuotedShort(WithoutCredentials(uri))));
      return;
    }
    TakeFiles(*folder, name, &model->artifacts, run);
  }

  void TakeFiles(const fs::path& folder, const std::string& what, std::vector<Artifact>* artifacts,
                 MlflowRun* run) const {
    auto files = ListLocalFiles(folder, import_->request());
    if (!files.ok()) {
      run->remarks.push_back(what + ": " + Unread(import_->request(), files.error()).ToString());
      return;
    }
    *artifacts = std::move(files->artifacts);
    for (std::string& remark : files->remarks) {
      run->remarks.push_back(what + ": " + std::move(remark));
    }
  }

  const SqliteFile& database_;
  const fs::path& file_;
  MlflowImport* import_;
  bool has_inputs_;
  bool has_models_;
};

Status ImportRows(const SqliteFile& database, const fs::path& file, MlflowImport* import) {
  const DatabaseRun reader(database, file, import);
  return database.ForRows(
      "SELECT r.run_uuid, r.status, r.start_time, r.end_time, r.lifecycle_stage, r.artifact_uri, "
      "r.experiment_id, e.name, e.lifecycle_stage FROM runs r "
      "LEFT JOIN experiments e ON e.experiment_id = r.experiment_id ORDER BY r.run_uuid",
      std::nullopt, [&](const SqliteFile::Row& row) -> Status {
        MlflowRun run;
        run.id = row.Text(0);
        if (import->Cancelled() || !import->request().Wants(run.id)) return {};
        if (row.Text(4) == "deleted" || row.Text(8) == "deleted") {
          import->CountDeleted();
          return {};
        }
        run.experiment = row.Text(7).empty() ? row.Text(6) : row.Text(7);
        run.status = row.Text(1);
        run.started_ms = row.Integer(2);
        run.ended_ms = row.Integer(3);
        RETURN_IF_ERROR(reader.Read(row.Text(5), row.Text(6), &run));
        return import->Take(std::move(run));
      });
}

}  // namespace

bool IsMlflowDatabase(const fs::path& file) {
  const auto opened = OpenRegularFile(file);
  if (!opened.ok()) return false;
  std::array<char, 16> head{};
  const ssize_t got = ::pread(opened->descriptor.get(), head.data(), head.size(), 0);
  if (got < 0 || !LooksLikeSqlite({head.data(), static_cast<std::size_t>(got)})) return false;
  const auto database = SqliteFile::Open(file);
  return database.ok() && IsMlflowTables(*database);
}

Status ImportMlflowDatabase(const fs::path& file, MlflowImport* import) {
  const bool alone = !HasWriteAheadLog(file);
  if (alone) RETURN_IF_ERROR(SqliteFile::CheckWhole(file));
  std::error_code error;
  const auto before = fs::last_write_time(file, error);
  ASSIGN_OR_RETURN(const SqliteFile database, SqliteFile::Open(file));
  const Status status = ImportRows(database, file, import);
  if (alone && (HasWriteAheadLog(file) || fs::last_write_time(file, error) != before)) {
    return IoError("was written to while it was read; import it again", file.string());
  }
  return status;
}

}  // namespace rharness
