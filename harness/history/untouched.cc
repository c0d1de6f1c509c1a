// Opening a history without leaving a trace.
#include "harness/history/untouched.h"

#include <chrono>
#include <system_error>
#include <utility>

#include "harness/base/trouble.h"
#include "harness/history/location.h"
#include "harness/history/postgresql_database.h"
#include "harness/history/postgresql_url.h"
#include "harness/history/sql_history.h"
#include "harness/history/sqlite_database.h"

namespace rharness {
namespace {

constexpr auto kLock = std::chrono::seconds(30);
constexpr auto kAnswer = std::chrono::minutes(10);

}  // namespace

Result<std::unique_ptr<HistoryStore>> OpenUntouchedHistory(const std::string& url) {
  std::unique_ptr<Database> database;
  if (IsPostgresqlUrl(url)) {
    ASSIGN_OR_RETURN(database, PostgresqlDatabase::Open(url, false, {.read_only = true}));
  } else {
    ASSIGN_OR_RETURN(const std::filesystem::path path, ParseHistoryUrl(url));
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::not_found) {
      return NotFound("no such history; `rharness history add` makes one", path.string());
    }
    if (status.type() == std::filesystem::file_type::none) {
      return PathError("cannot be looked at", error.value(), path);
    }
    if (status.type() != std::filesystem::file_type::regular) {
      return InvalidInput("is no file; expected a history", path.string());
    }
    if (std::filesystem::file_size(path, error) == 0) {
      return NotFound("is empty, and no history yet; `rharness history add` makes one of it",
                      path.string());
    }
    ASSIGN_OR_RETURN(database, SqliteDatabase::OpenUntouched(path, kLock, kAnswer));
  }
  return std::unique_ptr<HistoryStore>(new SqlHistory(std::move(database)));
}

}  // namespace rharness
