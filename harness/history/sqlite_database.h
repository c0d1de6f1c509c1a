// A history that is an SQLite file.
#ifndef RHARNESS_HARNESS_HISTORY_SQLITE_DATABASE_H_
#define RHARNESS_HARNESS_HISTORY_SQLITE_DATABASE_H_

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/history/database.h"

namespace rharness {

class SqliteDatabase : public Database {
 public:
  // Creates the file when it is missing, sets the journal, durability and the busy timeout, refuses
  // a schema that is not to the letter that of its version (integrity), and applies the migrations
  // that are due. No Guard or Write outlasts `answer_timeout` (timeout). Errors: as
  // HistoryStore::Open.
  static Result<std::unique_ptr<Database>> Open(
      const std::filesystem::path& path, std::chrono::milliseconds busy_timeout,
      std::chrono::milliseconds answer_timeout = std::chrono::minutes(10));
  // For reading alone: changes neither the file nor its journal's mode. Errors: those, and
  // invalid_input for a schema that is not the newest.
  static Result<std::unique_ptr<Database>> OpenForReading(const std::filesystem::path& path,
                                                          std::chrono::milliseconds busy_timeout,
                                                          std::chrono::milliseconds answer_timeout);

 private:
  SqliteDatabase(std::string path, std::chrono::milliseconds busy_timeout,
                 std::chrono::milliseconds answer_timeout)
      : Database(std::move(path), SqliteDialect()),
        busy_timeout_(busy_timeout),
        answer_timeout_(answer_timeout) {}
  void Begin() override { deadline_ = std::chrono::steady_clock::now() + answer_timeout_; }
  Error ErrorOf(const std::exception& exception) override;
  std::vector<std::string> SchemaSeen() override;
  std::vector<std::string> SchemaAt(int version) override;
  void Connect(bool read_only);
  Status SetJournal();

  std::chrono::milliseconds busy_timeout_;
  std::chrono::milliseconds answer_timeout_;
  std::chrono::steady_clock::time_point deadline_;
  bool read_only_ = false;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_SQLITE_DATABASE_H_
