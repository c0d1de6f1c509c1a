// MLflow's SQLite file; the only file of this folder with sqlite3.h.
// Sources: mlflow/store/tracking/dbmodels/models.py of MLflow 3; sqlite.org/uri.html (immutable),
// sqlite.org/security.html (untrusted files).
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "harness/base/descriptor.h"
#include "harness/base/files.h"
#include "harness/base/shown_url.h"
#include "harness/records/intake/clean.h"
#include "harness/records/intake/local_files.h"
#include "harness/records/intake/mlflow.h"
#include "harness/records/intake/mlflow_places.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr int kMostCellBytes = 64 << 20;

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct EndStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, EndStatement>;

bool HasWriteAheadLog(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file.string() + "-wal", error);
  return !error && size > 0;
}

// "file:" and the path with %XX for characters that a URI cannot have.
std::string UriOf(const fs::path& file, const char* query) {
  std::string uri = "file:";
  for (const char c : fs::absolute(file).string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '_' || c == '-';
    uri += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return uri + query;
}

class MlflowDatabase {
 public:
  static Result<MlflowDatabase> Open(const fs::path& file) {
    MlflowDatabase database(file);
    sqlite3* opened = nullptr;
    const std::string uri =
        UriOf(file, HasWriteAheadLog(file) ? "?mode=ro" : "?mode=ro&immutable=1");
    const int code =
        sqlite3_open_v2(uri.c_str(), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
    database.handle_.reset(opened);
    if (code != SQLITE_OK) return database.Fail("cannot be opened");
    sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, kMostCellBytes);
    constexpr int kBusyMilliseconds = 10'000;
    sqlite3_busy_timeout(opened, kBusyMilliseconds);
    return database;
  }

  Error Fail(std::string_view what) const {
    const int code = sqlite3_errcode(handle_.get());
    std::string why = fmt::format("{}: {}", what, sqlite3_errmsg(handle_.get()));
    if (code == SQLITE_CANTOPEN && HasWriteAheadLog(file_)) {
      why +=
          "; a write-ahead log lies beside it, which needs a folder that may be written to: "
          "copy both, and import the copy";
    }
    const bool bad = code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_ERROR;
    return bad ? InvalidInput(std::move(why), file_.string())
               : IoError(std::move(why), file_.string());
  }

  // Calls f(statement) for each row; `parameter` is ?1, if there is one. An error of f ends it.
  template <class F>
  Status Rows(const std::string& sql, const std::optional<std::string>& parameter, F f) const {
    sqlite3_stmt* prepared = nullptr;
    if (sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK) {
      return Fail("is not as MLflow makes it");
    }
    const Statement statement(prepared);
    if (parameter) {
      sqlite3_bind_text(prepared, 1, parameter->data(), static_cast<int>(parameter->size()),
                        SQLITE_TRANSIENT);
    }
    int code = sqlite3_step(prepared);
    for (; code == SQLITE_ROW; code = sqlite3_step(prepared)) RETURN_IF_ERROR(f(prepared));
    if (code != SQLITE_DONE) return Fail("cannot be read");
    return {};
  }

  // A view may be anything; only tables are read.
  bool HasTable(const std::string& name) const {
    bool found = false;
    const Status status = Rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1",
                               name, [&](sqlite3_stmt*) -> Status {
                                 found = true;
                                 return {};
                               });
    return status.ok() && found;
  }

 private:
  explicit MlflowDatabase(fs::path file) : file_(std::move(file)) {}

  fs::path file_;
  std::unique_ptr<sqlite3, CloseDatabase> handle_;
};

std::string CellText(sqlite3_stmt* row, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
  return text == nullptr
             ? std::string()
             : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(row, column)));
}

constexpr std::array<const char*, 5> kTables = {"experiments", "runs", "metrics", "params", "tags"};

// Reads the data of a run, row by row.
class DatabaseRun {
 public:
  DatabaseRun(const MlflowDatabase& database, const fs::path& file, MlflowImport* import)
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
    RETURN_IF_ERROR(ReadMetrics(run));
    if (has_inputs_) RETURN_IF_ERROR(ReadInputs(run));
    RETURN_IF_ERROR(ReadArtifacts(artifact_uri, experiment_id, run));
    if (!has_models_) return {};
    Status models = ReadEvalSets(run);
    if (models.ok()) models = ReadModels(run);
    // Their tables are young, and may have other columns one day.
    if (!models.ok()) run->remarks.push_back("logged models: " + models.error().ToString());
    return {};
  }

 private:
  Status ReadValues(const char* table, const std::string& run,
                    std::map<std::string, std::string>* values) const {
    return database_.Rows(fmt::format("SELECT key, value FROM {} WHERE run_uuid = ?1", table), run,
                          [&](sqlite3_stmt* row) -> Status {
                            (*values)[CellText(row, 0)] = CellText(row, 1);
                            return {};
                          });
  }

  Status ReadMetrics(MlflowRun* run) const {
    std::size_t points = 0;
    RETURN_IF_ERROR(database_.Rows(
        "SELECT key, value, timestamp, step, is_nan FROM metrics WHERE run_uuid = ?1 "
        "ORDER BY key, step, timestamp",
        run->id, [&](sqlite3_stmt* row) -> Status {
          auto& metric = run->metrics[CellText(row, 0)];
          if (IsMlflowSystemMetric(CellText(row, 0)) || ++points > kMostMlflowPoints) return {};
          const double value = sqlite3_column_int(row, 4) != 0
                                   ? std::numeric_limits<double>::quiet_NaN()
                                   : sqlite3_column_double(row, 1);
          metric.push_back({sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3), value});
          return {};
        }));
    if (points > kMostMlflowPoints) {
      run->remarks.push_back(
          fmt::format("the run has {} values of metrics; those after the first "
                      "{} were left out",
                      points, kMostMlflowPoints));
    }
    return {};
  }

  Status ReadInputs(MlflowRun* run) const {
    return database_.Rows(
        "SELECT d.name, d.digest, d.dataset_source_type, d.dataset_source, t.value FROM inputs i "
        "JOIN datasets d ON d.dataset_uuid = i.source_id "
        "LEFT JOIN input_tags t ON t.input_uuid = i.input_uuid AND t.name = 'mlflow.data.context' "
        "WHERE i.destination_id = ?1 AND i.destination_type = 'RUN' AND i.source_type = 'DATASET' "
        "ORDER BY d.name, d.digest",
        run->id, [&](sqlite3_stmt* row) -> Status {
          run->inputs.push_back({CellText(row, 0), CellText(row, 1), CellText(row, 2),
                                 CellText(row, 3), CellText(row, 4)});
          return {};
        });
  }

  // A metric's data set is kept with the logged model that it is of.
  Status ReadEvalSets(MlflowRun* run) const {
    return database_.Rows(
        "SELECT metric_name, dataset_name, dataset_digest FROM logged_model_metrics "
        "WHERE run_id = ?1",
        run->id, [&](sqlite3_stmt* row) -> Status {
          SayMeasuredOn(CellText(row, 0), {CellText(row, 1), CellText(row, 2)}, run);
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
    RETURN_IF_ERROR(
        database_.Rows("SELECT m.model_id, m.name, m.status, m.creation_timestamp_ms, i.step, "
                       "i.input_uuid IS NOT NULL, m.artifact_location, m.experiment_id, "
                       "m.lifecycle_stage FROM logged_models m "
                       "LEFT JOIN inputs i ON i.destination_id = m.model_id AND i.source_id = ?1 "
                       "AND i.source_type = 'RUN_OUTPUT' AND i.destination_type = 'MODEL_OUTPUT' "
                       "WHERE m.source_run_id = ?1 OR i.source_id = ?1 ORDER BY m.model_id",
                       run->id, [&](sqlite3_stmt* row) -> Status {
                         if (++models > kMostMlflowModels || import_->Cancelled()) return {};
                         MlflowModel model;
                         model.id = CellText(row, 0);
                         model.name = CellText(row, 1);
                         model.status = CellText(row, 2);
                         model.created_ms = sqlite3_column_int64(row, 3);
                         model.step = sqlite3_column_int64(row, 4);
                         model.is_output = sqlite3_column_int(row, 5) != 0;
                         if (CellText(row, 8) == "deleted") {
                           if (model.is_output)
                             run->remarks.push_back(DeletedMlflowModel(model.id));
                           return {};
                         }
                         if (IsReadyMlflowModel(model)) {
                           ReadModelFiles(CellText(row, 6), CellText(row, 7), &model, run);
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
      run->remarks.push_back(what + ": " + files.error().ToString());
      return;
    }
    *artifacts = std::move(files->artifacts);
    for (std::string& remark : files->remarks) {
      run->remarks.push_back(what + ": " + std::move(remark));
    }
  }

  const MlflowDatabase& database_;
  const fs::path& file_;
  MlflowImport* import_;
  bool has_inputs_;
  bool has_models_;
};

Status ImportRows(const MlflowDatabase& database, const fs::path& file, MlflowImport* import) {
  const DatabaseRun reader(database, file, import);
  return database.Rows(
      "SELECT r.run_uuid, r.status, r.start_time, r.end_time, r.lifecycle_stage, r.artifact_uri, "
      "r.experiment_id, e.name, e.lifecycle_stage FROM runs r "
      "LEFT JOIN experiments e ON e.experiment_id = r.experiment_id ORDER BY r.run_uuid",
      std::nullopt, [&](sqlite3_stmt* row) -> Status {
        MlflowRun run;
        run.id = CellText(row, 0);
        if (import->Cancelled() || !import->request().Wants(run.id)) return {};
        if (CellText(row, 4) == "deleted" || CellText(row, 8) == "deleted") {
          import->CountDeleted();
          return {};
        }
        run.experiment = CellText(row, 7).empty() ? CellText(row, 6) : CellText(row, 7);
        run.status = CellText(row, 1);
        run.started_ms = sqlite3_column_int64(row, 2);
        run.ended_ms = sqlite3_column_int64(row, 3);
        RETURN_IF_ERROR(reader.Read(CellText(row, 5), CellText(row, 6), &run));
        return import->Take(std::move(run));
      });
}

}  // namespace

bool IsMlflowDatabase(const fs::path& file) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  const auto opened = OpenRegularFile(file);
  if (!opened.ok()) return false;
  std::string head(kMagic.size(), '\0');
  if (::pread(opened->descriptor.get(), head.data(), head.size(), 0) !=
          static_cast<ssize_t>(head.size()) ||
      head != kMagic) {
    return false;
  }
  const auto database = MlflowDatabase::Open(file);
  return database.ok() &&
         std::ranges::all_of(kTables, [&](const char* table) { return database->HasTable(table); });
}

namespace {

// SQLite reads zeros beyond a truncated file's end. Source: sqlite.org/fileformat2.html, 1.3.
Status CheckWhole(const fs::path& file) {
  ASSIGN_OR_RETURN(const OpenedFile opened, OpenRegularFile(file));
  std::array<unsigned char, 100> head{};
  if (::pread(opened.descriptor.get(), head.data(), head.size(), 0) !=
      static_cast<ssize_t>(head.size())) {
    return InvalidInput("is cut off; expected 100 bytes and more", file.string());
  }
  const auto number = [&](std::size_t at) {
    return std::uint64_t{head[at]} << 24 | head[at + 1] << 16 | head[at + 2] << 8 | head[at + 3];
  };
  const std::uint64_t page = head[16] << 8 | head[17];
  const std::uint64_t expected = number(28) * (page == 1 ? 65536 : page);
  if (number(24) != number(92) || opened.size_bytes >= expected) return {};
  return InvalidInput(fmt::format("is cut off: {} bytes; expected {}", opened.size_bytes, expected),
                      file.string());
}

}  // namespace

Status ImportMlflowDatabase(const fs::path& file, MlflowImport* import) {
  const bool alone = !HasWriteAheadLog(file);
  if (alone) RETURN_IF_ERROR(CheckWhole(file));
  std::error_code error;
  const auto before = fs::last_write_time(file, error);
  ASSIGN_OR_RETURN(const MlflowDatabase database, MlflowDatabase::Open(file));
  const Status status = ImportRows(database, file, import);
  if (alone && (HasWriteAheadLog(file) || fs::last_write_time(file, error) != before)) {
    return IoError("was written to while it was read; import it again", file.string());
  }
  return status;
}

}  // namespace rharness
