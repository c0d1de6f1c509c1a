// A history in a temporary folder or in a database of a server of the tests' own, manifests to put
// in it, and raw SQL past the store.
#ifndef RHARNESS_TESTS_HISTORY_STORE_FIXTURE_H_
#define RHARNESS_TESTS_HISTORY_STORE_FIXTURE_H_

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/history/store.h"
#include "tests/history/postgresql_world.h"

namespace rharness {

inline constexpr char kDay1[] = "2026-01-01T00:00:00.000Z";
inline constexpr char kDay2[] = "2026-01-02T00:00:00.000Z";
inline constexpr char kDay3[] = "2026-01-03T00:00:00.000Z";

inline WallTime At(const std::string& text) { return ParseTime(text).value(); }

inline Manifest MakeManifest(const std::string& run_id, const std::string& started,
                             const std::string& family = "digits-mlp/cpu") {
  Manifest manifest;
  manifest.run_id = run_id;
  manifest.family = family;
  manifest.started = At(started);
  manifest.ended = manifest.started + std::chrono::seconds(90);
  manifest.duration_seconds = 90.125;
  manifest.code.repository = ".";
  manifest.code.commit = std::string(40, 'a');
  manifest.command = {"python3", "train.py", "--seed=3"};
  manifest.seeds = {{"python", 3}};
  manifest.rng_sources = {"python"};
  manifest.determinism.declared = "bitwise";
  manifest.metrics_path = "metrics.json";
  Metric metric;
  metric.name = "accuracy";
  metric.value = 0.1 + 0.2;
  metric.unit = "1";
  metric.direction = "higher";
  metric.primary = true;
  metric.margin = 0.005;
  manifest.metrics = {metric};
  return manifest;
}

inline VerdictRecord MakeVerdict(const std::string& drill_id, const std::string& run_id,
                                 const std::string& verdict, const std::string& decided) {
  return {drill_id, run_id, verdict, At(decided), 2, R"([{"message": "because"}])"};
}

inline FamilyRecord MakeFamilyRecord(const std::string& drill_id, const std::string& configuration,
                                     const std::string& verdict, const std::string& decided,
                                     const std::string& family = "digits-mlp/cpu") {
  return {drill_id,    family, configuration,   family + " as " + configuration, verdict,
          At(decided), 3,      R"(["because"])"};
}

// The sqlite3 library without the store: what somebody with a database tool can do.
class RawDatabase {
 public:
  explicit RawDatabase(const std::filesystem::path& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &handle_), SQLITE_OK);
  }
  RawDatabase(const RawDatabase&) = delete;
  RawDatabase& operator=(const RawDatabase&) = delete;
  ~RawDatabase() { sqlite3_close(handle_); }

  // The error's text; empty: success.
  std::string Run(const std::string& statement) {
    char* message = nullptr;
    sqlite3_exec(handle_, statement.c_str(), nullptr, nullptr, &message);
    const std::string text = message == nullptr ? "" : message;
    sqlite3_free(message);
    return text;
  }

  // Past all triggers, which are there again afterwards as they were.
  std::string RunPastTriggers(const std::string& statement) {
    const std::vector<std::string> texts =
        Rows("SELECT sql FROM sqlite_master WHERE type = 'trigger'");
    for (const std::string& name : Rows("SELECT name FROM sqlite_master WHERE type = 'trigger'")) {
      EXPECT_EQ(Run("DROP TRIGGER " + name), "");
    }
    std::string message = Run(statement);
    for (const std::string& text : texts) EXPECT_EQ(Run(text), "");
    return message;
  }

  // Rows as "a|b", NULL as "null".
  std::vector<std::string> Rows(const std::string& query) {
    std::vector<std::string> rows;
    const auto add = [](void* out, int count, char** values, char**) {
      std::string row;
      for (int i = 0; i < count; ++i) {
        row += (i == 0 ? "" : "|") + std::string(values[i] == nullptr ? "null" : values[i]);
      }
      static_cast<std::vector<std::string>*>(out)->push_back(row);
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(handle_, query.c_str(), add, &rows, nullptr), SQLITE_OK)
        << query << ": " << sqlite3_errmsg(handle_);
    return rows;
  }

 private:
  sqlite3* handle_ = nullptr;
};

inline std::unique_ptr<HistoryStore> OpenStoreAt(const std::filesystem::path& path) {
  return std::move(HistoryStore::Open(path.string())).value();
}

// A history that is a file, for what is about files.
class HistoryFileTest : public testing::Test {
 protected:
  std::filesystem::path Path() const { return folder_.path() / "history.db"; }
  std::unique_ptr<HistoryStore> OpenStore() const {
    return std::move(HistoryStore::Open(Path().string())).value();
  }
  Result<std::unique_ptr<HistoryStore>> TryOpen() const {
    return HistoryStore::Open(Path().string());
  }

  ScopedTempDir folder_ = std::move(ScopedTempDir::Make()).value();
};

// Raw SQL in either kind of history.
class RawHistory {
 public:
  explicit RawHistory(const std::string& url) {
    if (url.starts_with("postgresql:")) {
      server_ = std::make_unique<RawPostgresql>(url);
    } else {
      file_ = std::make_unique<RawDatabase>(url);
    }
  }
  std::string Run(const std::string& statement) {
    return server_ ? server_->Run(statement) : file_->Run(statement);
  }
  std::vector<std::string> Rows(const std::string& query) {
    return server_ ? server_->Rows(query) : file_->Rows(query);
  }
  // Past all triggers, which are there again afterwards.
  std::string RunPastTriggers(const std::string& statement) {
    if (file_) return file_->RunPastTriggers(statement);
    std::string message = server_->Run("SET session_replication_role = replica; " + statement);
    EXPECT_EQ(server_->Run("SET session_replication_role = origin"), "");
    return message;
  }

 private:
  std::unique_ptr<RawDatabase> file_;
  std::unique_ptr<RawPostgresql> server_;
};

// A history in an SQLite file and, where a server can be started, in PostgreSQL. What overrides
// SetUp calls this one first and returns where IsSkipped().
class HistoryTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    url_ = (folder_.path() / "history.db").string();
    if (!OnServer()) return;
    PostgresqlWorld& world = PostgresqlWorld::Shared();
    if (!world.problem().empty()) GTEST_SKIP() << world.problem();
    url_ = world.MakeDatabase();
  }
  bool OnServer() const { return std::string(GetParam()) == "postgresql"; }
  const std::string& Url() const { return url_; }
  RawHistory Raw() const { return RawHistory(url_); }
  std::unique_ptr<HistoryStore> OpenStore() const {
    return std::move(HistoryStore::Open(url_)).value();
  }
  Result<std::unique_ptr<HistoryStore>> TryOpen() const { return HistoryStore::Open(url_); }

  ScopedTempDir folder_ = std::move(ScopedTempDir::Make()).value();

 private:
  std::string url_;
};

// For a suite of tests over both.
inline auto BothDatabases() { return testing::Values("sqlite", "postgresql"); }
inline std::string DatabaseName(const testing::TestParamInfo<const char*>& info) {
  return info.param;
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_HISTORY_STORE_FIXTURE_H_
