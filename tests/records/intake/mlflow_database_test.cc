// MLflow's SQLite file: tables as its servers make them, and files that only look like one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cmath>

#include "harness/base/digest.h"
#include "tests/records/intake/source_tree.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// The columns that are read, by the names in MLflow 3.
constexpr char kTables[] =
    "CREATE TABLE experiments (experiment_id INTEGER, name TEXT, lifecycle_stage TEXT);"
    "CREATE TABLE runs (run_uuid TEXT, status TEXT, start_time INT, end_time INT,"
    " lifecycle_stage TEXT, artifact_uri TEXT, experiment_id INTEGER);"
    "CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT);"
    "CREATE TABLE tags (key TEXT, value TEXT, run_uuid TEXT);"
    "CREATE TABLE metrics (key TEXT, value FLOAT, timestamp INT, run_uuid TEXT, step INT,"
    " is_nan BOOLEAN);";
constexpr char kInputs[] =
    "CREATE TABLE inputs (input_uuid TEXT, source_type TEXT, source_id TEXT,"
    " destination_type TEXT, destination_id TEXT);"
    "CREATE TABLE datasets (dataset_uuid TEXT, name TEXT, digest TEXT, dataset_source_type TEXT,"
    " dataset_source TEXT);"
    "CREATE TABLE input_tags (input_uuid TEXT, name TEXT, value TEXT);"
    "INSERT INTO inputs VALUES ('i', 'DATASET', 'd', 'RUN', 'aa');"
    "INSERT INTO datasets VALUES ('d', 'digits', '0b06e3ba', 'http', '{\"url\": \"http://h/d\"}');";
constexpr char kRuns[] =
    "INSERT INTO experiments VALUES (1, 'digits', 'active'), (2, 'old', 'deleted');"
    "INSERT INTO runs VALUES ('aa', 'FINISHED', 1700000000000, 1700000060000, 'active',"
    " 'mlflow-artifacts:/1/aa/artifacts', 1),"
    " ('bb', 'FAILED', 1700000000000, NULL, 'active', 's3://bucket/bb', 1),"
    " ('gone', 'FINISHED', 1, 2, 'deleted', '', 1), ('old', 'FINISHED', 1, 2, 'active', '', 2);"
    "INSERT INTO params VALUES ('lr', '0.1', 'aa'), ('note', 'two' || char(10) || 'lines', 'aa');"
    "INSERT INTO metrics VALUES ('loss', 2.0, 1, 'aa', 0, 0), ('loss', 1.0, 2, 'aa', 1, 0),"
    " ('odd', 0.0, 1, 'aa', 0, 1), ('system/cpu', 5.0, 1, 'aa', 0, 0);";

class MlflowDatabaseTest : public SourceTree {
 protected:
  void SetUp() override { std::filesystem::create_directories(root()); }
  void Run(const std::string& sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((root() / "mlflow.db").c_str(), &database), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
        << (message == nullptr ? "" : message);
    sqlite3_free(message);
    sqlite3_close(database);
  }
  std::vector<std::string> Entries() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(root())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
};

TEST_F(MlflowDatabaseTest, GivesItsRunsAndLeavesOutThoseThatWereDeleted) {
  Run(std::string(kTables) + kInputs + kRuns);
  Put("mlartifacts/1/aa/artifacts/w.bin", "abc");
  const ImportOutcome outcome = Import("", "mlflow.db");
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.error().ToString();
  ASSERT_THAT(outcome.runs, SizeIs(2));
  const Manifest& run = outcome.runs[0];
  EXPECT_EQ(run.run_id, "mlflow-aa");
  EXPECT_EQ(run.family, "digits");
  EXPECT_EQ(run.duration_seconds, 60.0);
  EXPECT_EQ(run.hyperparameters.at("note").AsString(), "two\nlines");
  ASSERT_NE(CurveOf(run, "loss"), nullptr);
  EXPECT_THAT(CurveOf(run, "loss")->values, ElementsAre(2.0, 1.0));
  EXPECT_TRUE(std::isnan(MetricOf(run, "odd")));
  EXPECT_EQ(CurveOf(run, "system/cpu"), nullptr);
  ASSERT_THAT(run.data, SizeIs(1));
  EXPECT_EQ(run.data[0].other_digest, "mlflow:0b06e3ba");
  ASSERT_THAT(run.artifacts, SizeIs(1));
  EXPECT_EQ(run.artifacts[0].sha256, Sha256HexOf("abc"));
  EXPECT_TRUE(HasRemark(outcome.runs[1], "status is FAILED"));
  EXPECT_TRUE(HasRemark(outcome.runs[1], "'s3://bucket/bb' is not below the database's folder"));
}

TEST_F(MlflowDatabaseTest, IsReadWithoutTheTablesOfLaterVersionsAndIsLeftAsItWas) {
  Run(std::string("PRAGMA journal_mode=WAL;") + kTables + kRuns);
  const auto before = HashFile(root() / "mlflow.db");
  EXPECT_THAT(Import().runs, SizeIs(2));
  EXPECT_EQ(HashFile(root() / "mlflow.db")->sha256, before->sha256);
  EXPECT_THAT(Entries(), ElementsAre("mlflow.db"));
}

TEST_F(MlflowDatabaseTest, GivesWhatIsStillInTheWriteAheadLogOfAServerThatRuns) {
  Run(std::string("PRAGMA journal_mode=WAL;") + kTables);
  sqlite3* server = nullptr;
  ASSERT_EQ(sqlite3_open((root() / "mlflow.db").c_str(), &server), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(server, kRuns, nullptr, nullptr, nullptr), SQLITE_OK);
  ASSERT_GT(std::filesystem::file_size(root() / "mlflow.db-wal"), 0u);
  EXPECT_THAT(Import().runs, SizeIs(2));
  sqlite3_close(server);
}

TEST_F(MlflowDatabaseTest, HashesNothingOutsideOfItsFolder) {
  Run(std::string(kTables) + kRuns);
  Put("../secret/key", "root:x");
  Run("UPDATE runs SET artifact_uri = 'file://" + (root() / "../secret").string() + "'");
  const ImportOutcome outcome = Import();
  ASSERT_THAT(outcome.runs, SizeIs(2));
  EXPECT_TRUE(outcome.runs[0].artifacts.empty());
  EXPECT_TRUE(HasRemark(outcome.runs[0], "is not below the database's folder"));
}

// A view may compute for ever.
TEST_F(MlflowDatabaseTest, IsNoneWhereATableIsAView) {
  Run(std::string(kTables) + kRuns);
  Run("ALTER TABLE params RENAME TO other; CREATE VIEW params AS SELECT * FROM other");
  EXPECT_FALSE(Import("mlflow", "mlflow.db").status.ok());
  EXPECT_FALSE(Import("", "mlflow.db").status.ok());
}

TEST_F(MlflowDatabaseTest, IsAnErrorWhereItIsCutOff) {
  Run(std::string(kTables) + kRuns);
  const std::string whole = ReadFile(root() / "mlflow.db").value();
  for (std::size_t size = 0; size < whole.size(); size += 512) {
    Put("mlflow.db", whole.substr(0, size));
    const ImportOutcome outcome = Import("mlflow", "mlflow.db");
    ASSERT_FALSE(outcome.status.ok()) << size;
    EXPECT_THAT(outcome.status.error().ToString(), HasSubstr("mlflow.db")) << size;
  }
}

constexpr char kModels[] =
    "ALTER TABLE inputs ADD COLUMN step INT;"
    "CREATE TABLE logged_models (model_id TEXT, experiment_id INT, name TEXT,"
    " artifact_location TEXT, creation_timestamp_ms INT, status INT, lifecycle_stage TEXT,"
    " source_run_id TEXT);"
    "CREATE TABLE logged_model_metrics (metric_name TEXT, run_id TEXT, dataset_name TEXT,"
    " dataset_digest TEXT);"
    "INSERT INTO inputs VALUES ('o', 'RUN_OUTPUT', 'aa', 'MODEL_OUTPUT', 'm-one', 0);"
    "INSERT INTO inputs VALUES ('p', 'RUN_OUTPUT', 'aa', 'MODEL_OUTPUT', 'm-gone', 0);"
    "INSERT INTO logged_models VALUES"
    " ('m-one', 1, 'clf', 'mlflow-artifacts:/1/models/m-one/artifacts', 1, 2, 'active', 'aa'),"
    " ('m-far', 1, 'far', 's3://bucket/m-far', 1, 2, 'active', 'aa'),"
    " ('m-bad', 1, 'bad', '', 1, 3, 'active', 'aa'),"
    " ('m-gone', 1, 'gone', '', 1, 2, 'deleted', 'aa'),"
    " ('m-other', 1, 'clf', '', 1, 2, 'active', 'bb');"
    "INSERT INTO logged_model_metrics VALUES ('loss', 'aa', 'digits', '0b06e3ba');";

TEST_F(MlflowDatabaseTest, GivesLoggedModelsAndOnWhatTheirMetricsWereMeasured) {
  Run(std::string(kTables) + kInputs + kRuns + kModels);
  Put("mlartifacts/1/models/m-one/artifacts/model.skops", "abc");
  const ImportOutcome outcome = Import();
  ASSERT_THAT(outcome.runs, SizeIs(2));
  const Manifest& run = outcome.runs[0];
  ASSERT_THAT(run.artifacts, SizeIs(1));
  EXPECT_EQ(run.artifacts[0].path, "clf/model.skops");
  EXPECT_EQ(run.artifacts[0].sha256, Sha256HexOf("abc"));
  EXPECT_THAT(WorthOf(run, "artifacts[0]"), testing::HasSubstr("exact logged model clf (m-one)"));
  EXPECT_TRUE(HasRemark(run, "logged model 'm-far': 's3://bucket/m-far' is not below"));
  EXPECT_TRUE(HasRemark(run, "logged model bad (m-bad) was left out"));
  EXPECT_TRUE(HasRemark(run, "logged model 'm-gone' was deleted"));
  for (const Metric& metric : run.metrics) {
    EXPECT_EQ(metric.evaluated_on, metric.name == "loss" ? "digits" : "") << metric.name;
  }
}

TEST_F(MlflowDatabaseTest, KeepsItsRunsWhereModelsAreKeptOtherwise) {
  Run(std::string(kTables) + kInputs + kRuns + kModels);
  Run("ALTER TABLE logged_models RENAME COLUMN status TO state");
  const ImportOutcome outcome = Import();
  ASSERT_THAT(outcome.runs, SizeIs(2));
  EXPECT_TRUE(HasRemark(outcome.runs[0], "logged models: "));
}

TEST_F(MlflowDatabaseTest, TakesPlacesThatAreNone) {
  Run(std::string(kTables) + kRuns);
  for (const char* place : {"mlflow-artifacts:/", "mlflow-artifacts:///", "file://", "..", "%zz"}) {
    Run("UPDATE runs SET artifact_uri = '" + std::string(place) + "'");
    EXPECT_THAT(Import().runs, SizeIs(2)) << place;
  }
}

}  // namespace
}  // namespace rharness
