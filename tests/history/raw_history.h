// SQL past the store: what somebody with a database tool can do to a history.
#ifndef RHARNESS_TESTS_HISTORY_RAW_HISTORY_H_
#define RHARNESS_TESTS_HISTORY_RAW_HISTORY_H_

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/history/postgresql_world.h"

namespace rharness {

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

}  // namespace rharness

#endif  // RHARNESS_TESTS_HISTORY_RAW_HISTORY_H_
