// Opens an SQLite file, reads its schema, and words its errors.
#include "harness/history/sqlite_database.h"

#include <fmt/format.h>
#include <soci/sqlite3/soci-sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <stdexcept>

#include "harness/base/clock.h"
#include "harness/base/trouble.h"
#include "harness/history/location.h"
#include "harness/history/migrations.h"

namespace rharness {
namespace {

constexpr int kMostReads = 5;  // of a file that changes while it is read without locks

// Everything that a schema consists of, as SQLite keeps it, sorted. What SQLite makes for itself
// has no text.
std::vector<std::string> SqliteSchemaOf(soci::session& sql) {
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

// Ends statements of a file that was made never to answer.
int IsTooLate(void* deadline) {
  return std::chrono::steady_clock::now() >
         *static_cast<const std::chrono::steady_clock::time_point*>(deadline);
}

// Debian's SQLite accepts URIs by default, others need a setting.
void TakeUris() {
  static std::once_flag once;
  std::call_once(once, [] { sqlite_api::sqlite3_config(SQLITE_CONFIG_URI, 1); });
}

// A path as a URI of SQLite has it.
std::string UriOf(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '-' || c == '_';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

// The errno of the last read of the file or of its log; SQLite reports a damaged database if a disk
// cannot be read (EIO: SQLITE_IOERR_CORRUPTFS). 0: it did not fail.
int ReadErrno(soci::session& sql) {
  const auto* backend = static_cast<soci::sqlite3_session_backend*>(sql.get_backend());
  if (backend == nullptr || backend->conn_ == nullptr) return 0;
  int of_file = 0;
  sqlite_api::sqlite3_file_control(backend->conn_, "main", SQLITE_FCNTL_LAST_ERRNO, &of_file);
  if (of_file != 0) return of_file;
  sqlite_api::sqlite3_file* log = nullptr;
  sqlite_api::sqlite3_file_control(backend->conn_, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  int of_log = 0;
  if (log != nullptr && log->pMethods != nullptr) {
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &of_log);
  }
  return of_log;
}

}  // namespace

std::vector<std::string> SqliteDatabase::SchemaSeen() { return SqliteSchemaOf(sql_); }

std::vector<std::string> SqliteDatabase::SchemaAt(int version) {
  soci::session memory(*soci::factory_sqlite3(), "db=:memory:");
  for (const Migration& step : Migrations(SqliteDialect())) {
    if (step.version > version) break;
    for (const std::string& statement : step.statements) memory << statement;
  }
  return SqliteSchemaOf(memory);
}

Error SqliteDatabase::ErrorOf(const std::exception& exception) {
  const std::string message = MessageOf(exception);
  if (WasTouched()) return TimeoutError("was written to while it was read; try again", name_);
  const auto* error = dynamic_cast<const soci::sqlite3_soci_error*>(&exception);
  switch (error == nullptr ? SQLITE_ERROR : error->result() & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return TimeoutError(
          fmt::format("locked by another process for more than {}",
                      FormatDuration(std::chrono::duration_cast<Seconds>(busy_timeout_))),
          name_);
    case SQLITE_INTERRUPT:
      return TimeoutError(
          fmt::format("gave no answer within {}",
                      FormatDuration(std::chrono::duration_cast<Seconds>(answer_timeout_))),
          name_);
    case SQLITE_CORRUPT:
      if (const int number = ReadErrno(sql_); number != 0) {
        return IoErrorFromErrno("cannot read the database", number, name_);
      }
      return IntegrityError("the database file is damaged: " + message, name_);
    case SQLITE_NOTADB:
      return InvalidInput(
          "not an SQLite database; expected a history, a new file, or the folder of a manifest",
          name_);
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      if (read_only_ && ::access(name_.c_str(), R_OK) != 0) {
        return PathError("cannot be opened for reading", errno, name_);
      }
      if (read_only_) {
        return IoError(
            "cannot be opened for reading; SQLite keeps the index of its log in the folder, which "
            "must be writable, or a writer must have the history open, or read a copy (sqlite3 "
            "FILE \"VACUUM INTO 'COPY'\"): " +
                message,
            name_);
      }
      return IoError(
          "cannot be opened for writing (the file and its folder must be writable): " + message,
          name_);
    case SQLITE_IOERR:
    case SQLITE_FULL:
      return IoError("cannot read or write the database: " + message, name_);
    default:
      return InternalError("unexpected database error: " + message, name_);
  }
}

std::optional<SqliteDatabase::Rest> SqliteDatabase::LookAtRest() const {
  struct stat now {};
  for (const char* beside : {"-wal", "-journal"}) {
    if (::stat((name_ + beside).c_str(), &now) == 0 && now.st_size > 0) return std::nullopt;
  }
  if (::stat(name_.c_str(), &now) != 0) return std::nullopt;
  return Rest{static_cast<std::int64_t>(now.st_dev),
              static_cast<std::int64_t>(now.st_ino),
              now.st_size,
              now.st_mtim.tv_sec,
              now.st_mtim.tv_nsec,
              now.st_ctim.tv_sec,
              now.st_ctim.tv_nsec};
}

void SqliteDatabase::End() {
  if (WasTouched()) throw std::runtime_error("written to while it was read");
}

bool SqliteDatabase::ComeBack(int failures) {
  if (failures >= kMostReads || !untouched_) return false;
  // It was written meanwhile; or a writer at opening time has ended and removed SQLite's log.
  if (rest_ ? !WasTouched() : !LookAtRest()) return false;
  try {
    ConnectUntouched();
    return RequireNewest().ok();
  } catch (const std::exception&) {
    return false;
  }
}

void SqliteDatabase::ConnectUntouched() {
  sql_.close();  // of a look before
  untouched_ = true;
  rest_ = LookAtRest();
  Connect(true);
}

void SqliteDatabase::Connect(bool read_only) {
  read_only_ = read_only;
  TakeUris();
  const std::string place = rest_ ? UriOf(name_) + "?immutable=1" : name_;
  // Not by its name, for which SOCI would look for a library.
  sql_.open(*soci::factory_sqlite3(),
            fmt::format("db=\"{}\"{}", place, read_only ? " readonly=true" : ""));
  constexpr int kInstructions = 10000;
  auto* backend = static_cast<soci::sqlite3_session_backend*>(sql_.get_backend());
  sqlite_api::sqlite3_progress_handler(backend->conn_, kInstructions, IsTooLate, &deadline_);
  sql_ << fmt::format("PRAGMA busy_timeout = {}", busy_timeout_.count());
  if (read_only) {
    sql_ << "PRAGMA query_only = ON";
  } else {
    sql_ << "PRAGMA foreign_keys = ON";
    sql_ << "PRAGMA synchronous = FULL";
  }
  // The file may be untrusted: its schema calls no functions with side effects, and damaged pages
  // are noticed when they are read.
  sql_ << "PRAGMA trusted_schema = OFF";
  sql_ << "PRAGMA cell_size_check = ON";
}

Status SqliteDatabase::SetJournal() {
  ASSIGN_OR_RETURN(const std::string_view wanted, JournalModeAt(name_));
  std::string mode;
  sql_ << fmt::format("PRAGMA journal_mode = {}", wanted), soci::into(mode);
  if (wanted == "delete" && mode != wanted) {
    return IoError(fmt::format("the journal is '{}' and cannot be changed to '{}', which a network "
                               "filesystem needs; close other users of the history",
                               mode, wanted),
                   name_);
  }
  return {};
}

Result<std::unique_ptr<Database>> SqliteDatabase::Open(const std::filesystem::path& path,
                                                       std::chrono::milliseconds busy_timeout,
                                                       std::chrono::milliseconds answer_timeout) {
  std::unique_ptr<SqliteDatabase> database(
      new SqliteDatabase(path.string(), busy_timeout, answer_timeout));
  RETURN_IF_ERROR(database->Guard([&]() -> Status {
    database->Connect(false);
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
  return std::unique_ptr<Database>(std::move(database));
}

Result<std::unique_ptr<Database>> SqliteDatabase::OpenForReading(
    const std::filesystem::path& path, std::chrono::milliseconds busy_timeout,
    std::chrono::milliseconds answer_timeout) {
  std::unique_ptr<SqliteDatabase> database(
      new SqliteDatabase(path.string(), busy_timeout, answer_timeout));
  RETURN_IF_ERROR(database->Guard([&]() -> Status {
    database->Connect(true);
    return database->RequireNewest();
  }));
  return std::unique_ptr<Database>(std::move(database));
}

Result<std::unique_ptr<Database>> SqliteDatabase::OpenUntouched(
    const std::filesystem::path& path, std::chrono::milliseconds busy_timeout,
    std::chrono::milliseconds answer_timeout) {
  std::unique_ptr<SqliteDatabase> database(
      new SqliteDatabase(path.string(), busy_timeout, answer_timeout));
  RETURN_IF_ERROR(database->Guard([&]() -> Status {
    database->ConnectUntouched();
    return database->RequireNewest();
  }));
  return std::unique_ptr<Database>(std::move(database));
}

}  // namespace rharness
