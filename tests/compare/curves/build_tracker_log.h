// Records of trackers for tests: MLflow's database and file store, W&B's log, written by the test.
#ifndef RHARNESS_TESTS_COMPARE_CURVES_BUILD_TRACKER_LOG_H_
#define RHARNESS_TESTS_COMPARE_CURVES_BUILD_TRACKER_LOG_H_

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/compare/weights/zip_file.h"

namespace rharness {

// Two ids of runs, as MLflow makes them.
inline constexpr char kMlflowRunA[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
inline constexpr char kMlflowRunB[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

// The tables that are read, with the columns of mlflow/store/tracking/dbmodels/models.py.
inline constexpr char kMlflowSchema[] =
    "CREATE TABLE experiments (experiment_id INTEGER, name TEXT, lifecycle_stage TEXT);"
    "CREATE TABLE runs (run_uuid TEXT, status TEXT, start_time INT, end_time INT,"
    " lifecycle_stage TEXT, artifact_uri TEXT, experiment_id INTEGER);"
    "CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT);"
    "CREATE TABLE tags (key TEXT, value TEXT, run_uuid TEXT);"
    "CREATE TABLE metrics (key TEXT, value FLOAT, timestamp INT, run_uuid TEXT, step INT,"
    " is_nan BOOLEAN);"
    "INSERT INTO experiments VALUES (0, 'Default', 'active'), (1, 'old', 'deleted');";

// A run of experiment 0.
inline std::string MlflowRunRow(const std::string& run) {
  return "INSERT INTO runs VALUES ('" + run + "', 'FINISHED', 1, 2, 'active', '', 0);";
}
inline std::string MlflowMetricRow(const std::string& run, const std::string& key,
                                   const std::string& value, int step, int is_nan = 0) {
  return "INSERT INTO metrics VALUES ('" + key + "', " + value + ", " + std::to_string(step) +
         ", '" + run + "', " + std::to_string(step) + ", " + std::to_string(is_nan) + ");";
}

// The bytes of a database that a program made by this SQL.
inline std::string SqliteBytes(const std::string& sql) {
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &database), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << (message == nullptr ? "" : message);
  sqlite3_free(message);
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(database, "main", &size, 0);
  std::string text(reinterpret_cast<char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(database);
  return text;
}

// A field of a protocol buffer that has a length, below 16,384.
inline std::string LengthField(unsigned number, const std::string& content) {
  const std::size_t tag = (number << 3) | 2;
  std::string field;
  for (const std::size_t value : {tag, content.size()}) {
    if (value >= 128) field += static_cast<char>((value & 127) | 128);
    field += static_cast<char>(value >= 128 ? value >> 7 : value);
  }
  return field + content;
}

// {key, value_json} of W&B.
using WandbItems = std::vector<std::pair<std::string, std::string>>;
inline std::string WandbItemList(const WandbItems& items) {
  std::string list;
  for (const auto& [key, json] : items) {
    list += LengthField(1, LengthField(1, key) + LengthField(16, json));
  }
  return list;
}
inline std::string WandbHistoryRecord(int step, const WandbItems& items) {
  WandbItems all = items;
  all.emplace_back("_step", std::to_string(step));
  all.emplace_back("_timestamp", "1732770000.5");
  all.emplace_back("_runtime", "12.5");
  return LengthField(2, WandbItemList(all));
}
inline std::string WandbSummaryRecord(const WandbItems& items) {
  return LengthField(3, WandbItemList(items));
}
// Records of one block.
inline std::string WandbLogOf(const std::vector<std::string>& records) {
  std::string log(":W&B\xe1\xbe\0", 7);
  for (const std::string& record : records) {
    const std::string content = '\1' + record;  // the type: whole
    log += Little(Crc32Of(content), 4) + Little(record.size(), 2) + content;
  }
  return log;
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_COMPARE_CURVES_BUILD_TRACKER_LOG_H_
