// Opening, migrating and locking an SQLite file, and SOCI's exceptions as Errors.
#include "harness/history/database.h"

#include <fmt/format.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "harness/base/clock.h"
#include "harness/history/location.h"
#include "harness/history/migrations.h"

namespace rharness {
namespace {

// SOCI's own messages, without the statement and its bound values.
std::string MessageOf(const std::exception& exception) {
  const auto* error = dynamic_cast<const soci::soci_error*>(&exception);
  return error != nullptr ? error->get_error_message() : exception.what();
}

std::vector<std::string> TableNames(soci::session& sql) {
  std::vector<std::string> names;
  std::string name;
  soci::statement query = (sql.prepare << SqliteDialect().list_tables, soci::into(name));
  query.execute();
  while (query.fetch()) names.push_back(name);
  return names;
}

// Everything that a schema consists of, as SQLite keeps it, sorted. What SQLite makes for itself
// has no text.
std::vector<std::string> SchemaOf(soci::session& sql) {
  std::vector<std::string> parts;
  std::string part;
  soci::statement query =
      (sql.prepare << "SELECT type || ' ' || name || ' on ' || tbl_name || ': ' || sql "
                      "FROM sqlite_master WHERE sql IS NOT NULL AND NOT (type = 'table' AND "
                      "name IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4'))",
       soci::into(part));
  query.execute();
  while (query.fetch()) parts.push_back(part);
  std::sort(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string> SchemaAt(int version) {
  soci::session memory("sqlite3", "db=:memory:");
  for (const Migration& step : Migrations(SqliteDialect())) {
    if (step.version > version) break;
    for (const std::string& statement : step.statements) memory << statement;
  }
  return SchemaOf(memory);
}

// Ends statements of a file that was made never to answer.
int IsTooLate(void* deadline) {
  return std::chrono::steady_clock::now() >
         *static_cast<const std::chrono::steady_clock::time_point*>(deadline);
}

}  // namespace

Database::Transaction::Transaction(soci::session& sql) : sql_(sql) {
  sql_ << SqliteDialect().begin_write;
}

Database::Transaction::~Transaction() {
  if (!open_) return;
  try {
    sql_ << "ROLLBACK";
  } catch (const std::exception&) {
    // SQLite has rolled back by itself after some errors; then there is nothing left to do.
  }
}

void Database::Transaction::Commit() {
  sql_ << "COMMIT";
  open_ = false;
}

Error Database::ErrorOf(const std::exception& exception) const {
  const std::string message = MessageOf(exception);
  const auto* error = dynamic_cast<const soci::sqlite3_soci_error*>(&exception);
  switch (error == nullptr ? SQLITE_ERROR : error->result() & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return TimeoutError(
          fmt::format("locked by another process for more than {}",
                      FormatDuration(std::chrono::duration_cast<Seconds>(busy_timeout_))),
          path_);
    case SQLITE_INTERRUPT:
      return TimeoutError(
          fmt::format("gave no answer within {}",
                      FormatDuration(std::chrono::duration_cast<Seconds>(answer_timeout_))),
          path_);
    case SQLITE_CORRUPT:
      return IntegrityError("the database file is damaged: " + message, path_);
    case SQLITE_NOTADB:
      return InvalidInput("not an SQLite database; expected a history or a new file", path_);
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return IoError(
          "cannot be opened for writing (the file and its folder must be writable): " + message,
          path_);
    case SQLITE_IOERR:
    case SQLITE_FULL:
      return IoError("cannot read or write the database: " + message, path_);
    default:
      return InternalError("unexpected database error: " + message, path_);
  }
}

void Database::Connect() {
  sql_.open("sqlite3", fmt::format("db=\"{}\"", path_));
  constexpr int kInstructions = 10000;
  auto* backend = static_cast<soci::sqlite3_session_backend*>(sql_.get_backend());
  sqlite_api::sqlite3_progress_handler(backend->conn_, kInstructions, IsTooLate, &deadline_);
  sql_ << fmt::format("PRAGMA busy_timeout = {}", busy_timeout_.count());
  sql_ << "PRAGMA foreign_keys = ON";
  sql_ << "PRAGMA synchronous = FULL";
  // The file may come from a stranger: its schema calls no functions with side effects, and
  // damaged pages are noticed when they are read.
  sql_ << "PRAGMA trusted_schema = OFF";
  sql_ << "PRAGMA cell_size_check = ON";
}

Status Database::SetJournal() {
  ASSIGN_OR_RETURN(const std::string_view wanted, JournalModeAt(path_));
  std::string mode;
  sql_ << fmt::format("PRAGMA journal_mode = {}", wanted), soci::into(mode);
  if (wanted == "delete" && mode != wanted) {
    return IoError(fmt::format("the journal is '{}' and cannot be changed to '{}', which a network "
                               "filesystem needs; close other users of the history",
                               mode, wanted),
                   path_);
  }
  return {};
}

Result<int> Database::SchemaVersion() {
  const std::vector<std::string> tables = TableNames(sql_);
  if (tables.empty()) return 0;
  if (std::find(tables.begin(), tables.end(), kMetaTable) == tables.end()) {
    return InvalidInput(fmt::format("an SQLite database of something else (no table {}); expected "
                                    "a history or a new file",
                                    kMetaTable),
                        path_);
  }
  std::string text;
  sql_ << "SELECT value FROM rharness_meta WHERE name = 'schema_version'", soci::into(text);
  int version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || version < 1) {
    return IntegrityError(fmt::format("the schema's version is '{}', which is no number", text),
                          path_);
  }
  if (version > NewestSchema()) {
    return Unsupported(fmt::format("schema rharness.history.database/v{} is newer than "
                                   "rharness.history.database/v{}, the newest "
                                   "that this version knows; use a newer rharness",
                                   version, NewestSchema()),
                       path_);
  }
  return version;
}

// The file may be a stranger's: a view in the place of a table, or a trigger more, would run with
// every statement of ours.
Status Database::CheckSchema(int version) {
  const std::vector<std::string> expected = SchemaAt(version);
  const std::vector<std::string> seen = SchemaOf(sql_);
  const auto differs = [this](std::string_view what, const std::string& part) {
    return IntegrityError(fmt::format("its schema is not that of a history: {} '{}'", what,
                                      part.substr(0, part.find(':'))),
                          path_);
  };
  for (const std::string& part : seen) {
    if (!std::binary_search(expected.begin(), expected.end(), part)) return differs("has", part);
  }
  for (const std::string& part : expected) {
    if (!std::binary_search(seen.begin(), seen.end(), part)) return differs("lacks", part);
  }
  return {};
}

Status Database::Migrate() {
  int found = 0;
  {
    // One view of the file, whatever another process migrates meanwhile.
    soci::transaction reading(sql_);
    ASSIGN_OR_RETURN(found, SchemaVersion());
    RETURN_IF_ERROR(CheckSchema(found));
  }
  for (const Migration& step : Migrations(SqliteDialect())) {
    if (step.version <= found) continue;
    RETURN_IF_ERROR(Write([&]() -> Status {
      // Another process may have been faster.
      ASSIGN_OR_RETURN(const int current, SchemaVersion());
      if (step.version <= current) return {};
      for (const std::string& statement : step.statements) sql_ << statement;
      const std::string version = std::to_string(step.version);
      sql_ << "UPDATE rharness_meta SET value = :value WHERE name = 'schema_version'",
          soci::use(version);
      return {};
    }));
  }
  return {};
}

Result<std::unique_ptr<Database>> Database::Open(const std::filesystem::path& path,
                                                 std::chrono::milliseconds busy_timeout,
                                                 std::chrono::milliseconds answer_timeout) {
  std::unique_ptr<Database> database(new Database(path.string(), busy_timeout, answer_timeout));
  RETURN_IF_ERROR(database->Guard([&]() -> Status {
    database->Connect();
    return {};
  }));
  // SQLite does not wait on some locks that changing the journal needs, so the waiting is done
  // here.
  Clock& clock = SystemClock();
  const auto deadline = clock.Monotonic() + busy_timeout;
  for (;;) {
    const Status status = database->Guard([&] { return database->SetJournal(); });
    if (status.ok()) break;
    if (status.error().code != ErrorCode::kTimeout || clock.Monotonic() >= deadline) {
      return status.error();
    }
    clock.SleepFor(std::chrono::milliseconds(5));
  }
  RETURN_IF_ERROR(database->Guard([&] { return database->Migrate(); }));
  return database;
}

}  // namespace rharness
