// An SQLite file that another program wrote, read only.
//
// Role: a fence around SQLite for files of strangers: no views, no triggers, no changes, and a
// bound on what a query may do. Not here: rharness's own history (harness/history). Sources:
// sqlite.org/uri.html (immutable), sqlite.org/security.html (untrusted files),
// sqlite.org/fileformat2.html (heads).
#ifndef RHARNESS_HARNESS_BASE_SQLITE_FILE_H_
#define RHARNESS_HARNESS_BASE_SQLITE_FILE_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "harness/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace rharness {

// By its first bytes.
bool LooksLikeSqlite(std::string_view head);
// Whether a write-ahead log with content lies beside it.
bool HasWriteAheadLog(const std::filesystem::path& file);

// Movable.
class SqliteFile {
 public:
  // Without a write-ahead log beside it, it counts as a file without writers; else that is read
  // too. Errors: io; invalid_input (no database).
  static Result<SqliteFile> Open(const std::filesystem::path& file);
  // SQLite reads zeros beyond the end of a file that is cut off. Errors: invalid_input, io.
  static Status CheckWhole(const std::filesystem::path& file);
  // A database of these bytes, without what a log beside them would add. A query ends after some
  // time. Errors: invalid_input.
  static Result<SqliteFile> OfBytes(std::string bytes, std::string where);

  class Row {
   public:
    explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
    std::string Text(int column) const;  // empty for NULL
    std::int64_t Integer(int column) const;
    double Real(int column) const;

   private:
    sqlite3_stmt* statement_;
  };
  // Calls f(row) for each row of a query; `parameter` is ?1, if there is one. An error of f ends
  // it. Errors: invalid_input (tables or columns that are not there, damage), io.
  Status ForRows(const std::string& sql, const std::optional<std::string>& parameter,
                 const std::function<Status(const Row& row)>& f) const;
  // A view may be anything; only tables are read.
  bool HasTable(const std::string& name) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit SqliteFile(std::string where) : where_(std::move(where)) {}
  Error Fail(std::string_view what) const;
  void Harden() const;

  std::string where_;
  std::unique_ptr<std::string> bytes_;  // of a database in memory, which outlive the handle
  std::unique_ptr<int> looks_;
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_BASE_SQLITE_FILE_H_
