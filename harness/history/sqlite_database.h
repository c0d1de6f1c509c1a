// A history that is an SQLite file.
#ifndef RHARNESS_HARNESS_HISTORY_SQLITE_DATABASE_H_
#define RHARNESS_HARNESS_HISTORY_SQLITE_DATABASE_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/history/database.h"

namespace rharness {

class SqliteDatabase : public Database {
 public:
  // Creates the file when it is missing, sets the journal, durability and the busy timeout, refuses
  // a schema that differs in any character from that of its version (integrity), and applies the
  // migrations that are due. No Guard or Write outlasts `answer_timeout` (timeout). Errors: as
  // HistoryStore::Open.
  static Result<std::unique_ptr<Database>> Open(
      const std::filesystem::path& path, std::chrono::milliseconds busy_timeout,
      std::chrono::milliseconds answer_timeout = std::chrono::minutes(10));
  // For reading only: changes neither the file nor its journal's mode. Errors: those, and
  // invalid_input for a schema that is not the newest.
  static Result<std::unique_ptr<Database>> OpenForReading(const std::filesystem::path& path,
                                                          std::chrono::milliseconds busy_timeout,
                                                          std::chrono::milliseconds answer_timeout);
  // The same for readers that must leave no trace and may have no write access: while nobody seems
  // to write to the file it is read without locks, and nothing is made beside it; if it was written
  // to meanwhile it is read again. Source: https://sqlite.org/uri.html (immutable).
  static Result<std::unique_ptr<Database>> OpenUntouched(const std::filesystem::path& path,
                                                         std::chrono::milliseconds busy_timeout,
                                                         std::chrono::milliseconds answer_timeout);

 private:
  SqliteDatabase(std::string path, std::chrono::milliseconds busy_timeout,
                 std::chrono::milliseconds answer_timeout)
      : Database(std::move(path), SqliteDialect()),
        busy_timeout_(busy_timeout),
        answer_timeout_(answer_timeout) {}
  // Identity, size and last change of a file that nobody seems to write to.
  using Rest = std::array<std::int64_t, 7>;

  void Begin() override { deadline_ = std::chrono::steady_clock::now() + answer_timeout_; }
  void End() override;
  bool ComeBack(int failures) override;
  Error ErrorOf(const std::exception& exception) override;
  std::vector<std::string> SchemaSeen() override;
  std::vector<std::string> SchemaAt(int version) override;
  std::optional<Rest> LookAtRest() const;  // empty: somebody writes, or crashed while writing
  bool WasTouched() const { return rest_ && LookAtRest() != rest_; }
  void Connect(bool read_only);
  void ConnectUntouched();
  Status SetJournal();

  std::chrono::milliseconds busy_timeout_;
  std::chrono::milliseconds answer_timeout_;
  std::chrono::steady_clock::time_point deadline_;
  bool read_only_ = false;
  bool untouched_ = false;
  std::optional<Rest> rest_;  // set: read as an unchanging file
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_SQLITE_DATABASE_H_
