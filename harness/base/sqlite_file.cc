// SQLite behind one reader; see sqlite_file.h.
#include "harness/base/sqlite_file.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "harness/base/descriptor.h"
#include "harness/base/files.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHeaderBytes = 100;
constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);
constexpr int kMostCellBytes = 64 << 20;
constexpr int kStepsBetweenLooks = 100'000;
constexpr int kMostLooks = 50'000;  // a minute at most: a damaged index might not end

struct EndStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

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

// Source: fileformat2.html, 1.3.
Status CheckSize(std::string_view head, std::uint64_t size_bytes, const std::string& where) {
  if (head.size() < kHeaderBytes) {
    return InvalidInput(fmt::format("is cut off; expected {} bytes and more", kHeaderBytes), where);
  }
  const auto byte = [&](std::size_t at) {
    return std::uint64_t{static_cast<unsigned char>(head[at])};
  };
  const auto number = [&](std::size_t at) {
    return byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3);
  };
  const std::uint64_t page = byte(16) << 8 | byte(17);
  const std::uint64_t expected = number(28) * (page == 1 ? 65536 : page);
  if (number(24) != number(92) || size_bytes >= expected) return {};
  return InvalidInput(fmt::format("is cut off: {} bytes; expected {}", size_bytes, expected),
                      where);
}

}  // namespace

bool LooksLikeSqlite(std::string_view head) { return head.starts_with(kSqliteMagic); }

bool HasWriteAheadLog(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file.string() + "-wal", error);
  return !error && size > 0;
}

void SqliteFile::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

std::string SqliteFile::Row::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return text == nullptr
             ? std::string()
             : std::string(text,
                           static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}
std::int64_t SqliteFile::Row::Integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}
double SqliteFile::Row::Real(int column) const { return sqlite3_column_double(statement_, column); }

void SqliteFile::Harden() const {
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_limit(handle_.get(), SQLITE_LIMIT_LENGTH, kMostCellBytes);
}

Status SqliteFile::CheckWhole(const fs::path& file) {
  ASSIGN_OR_RETURN(const OpenedFile opened, OpenRegularFile(file));
  std::array<char, kHeaderBytes> head{};
  const ssize_t got = ::pread(opened.descriptor.get(), head.data(), head.size(), 0);
  return CheckSize({head.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))},
                   opened.size_bytes, file.string());
}

Result<SqliteFile> SqliteFile::Open(const fs::path& file) {
  const bool logged = HasWriteAheadLog(file);
  SqliteFile database(file.string());
  sqlite3* opened = nullptr;
  const std::string uri = UriOf(file, logged ? "?mode=ro" : "?mode=ro&immutable=1");
  const int code =
      sqlite3_open_v2(uri.c_str(), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  database.handle_.reset(opened);
  if (code != SQLITE_OK) return database.Fail("cannot be opened");
  database.Harden();
  constexpr int kBusyMilliseconds = 10'000;
  sqlite3_busy_timeout(opened, kBusyMilliseconds);
  return database;
}

Result<SqliteFile> SqliteFile::OfBytes(std::string bytes, std::string where) {
  if (!LooksLikeSqlite(bytes)) return InvalidInput("is no SQLite file", std::move(where));
  RETURN_IF_ERROR(CheckSize(bytes, bytes.size(), where));
  constexpr std::size_t kWriteVersion = 18, kReadVersion = 19;
  // A database in memory has no write-ahead log (2).
  bytes[kWriteVersion] = bytes[kReadVersion] = 1;
  SqliteFile database(std::move(where));
  database.bytes_ = std::make_unique<std::string>(std::move(bytes));
  database.looks_ = std::make_unique<int>(0);
  sqlite3* opened = nullptr;
  int code = sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE, nullptr);
  database.handle_.reset(opened);
  if (code != SQLITE_OK) return database.Fail("cannot be opened");
  const auto size = static_cast<sqlite3_int64>(database.bytes_->size());
  auto* data = reinterpret_cast<unsigned char*>(database.bytes_->data());
  code = sqlite3_deserialize(opened, "main", data, size, size, SQLITE_DESERIALIZE_READONLY);
  if (code != SQLITE_OK) return database.Fail("cannot be opened");
  database.Harden();
  const auto look = [](void* counted) {
    return ++*static_cast<int*>(counted) > kMostLooks ? 1 : 0;
  };
  sqlite3_progress_handler(opened, kStepsBetweenLooks, look, database.looks_.get());
  return database;
}

Error SqliteFile::Fail(std::string_view what) const {
  const int code = sqlite3_errcode(handle_.get());
  std::string why = fmt::format("{}: {}", what, sqlite3_errmsg(handle_.get()));
  if (code == SQLITE_CANTOPEN && !bytes_ && HasWriteAheadLog(where_)) {
    why +=
        "; a write-ahead log lies beside it, which needs a folder that may be written to: copy "
        "both, and read the copy";
  }
  const bool bad =
      bytes_ || code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_ERROR;
  return bad ? InvalidInput(std::move(why), where_) : IoError(std::move(why), where_);
}

Status SqliteFile::ForRows(const std::string& sql, const std::optional<std::string>& parameter,
                           const std::function<Status(const Row& row)>& f) const {
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK) {
    return Fail("has other tables than expected");
  }
  const std::unique_ptr<sqlite3_stmt, EndStatement> statement(prepared);
  if (parameter) {
    sqlite3_bind_text(prepared, 1, parameter->data(), static_cast<int>(parameter->size()),
                      SQLITE_TRANSIENT);
  }
  const Row row(prepared);
  int code = sqlite3_step(prepared);
  for (; code == SQLITE_ROW; code = sqlite3_step(prepared)) RETURN_IF_ERROR(f(row));
  if (code != SQLITE_DONE) return Fail("cannot be read");
  return {};
}

bool SqliteFile::HasTable(const std::string& name) const {
  bool found = false;
  const Status status = ForRows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1",
                                name, [&](const Row&) -> Status {
                                  found = true;
                                  return {};
                                });
  return status.ok() && found;
}

}  // namespace rharness
