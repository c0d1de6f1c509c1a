// Opens stores with given limits. Role: HistoryStore::Open's second half; tests.
#ifndef RHARNESS_HARNESS_HISTORY_OPEN_STORE_H_
#define RHARNESS_HARNESS_HISTORY_OPEN_STORE_H_

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "harness/history/store.h"

namespace rharness {

// `busy_timeout`: longest wait for another process's lock before a timeout error.
Result<std::unique_ptr<HistoryStore>> OpenSqliteHistory(const std::filesystem::path& path,
                                                        std::chrono::milliseconds busy_timeout);

struct PostgresqlLimits {
  std::chrono::milliseconds lock{30'000};        // waiting for another writer
  std::chrono::milliseconds statement{600'000};  // of one statement
  std::chrono::milliseconds gone{120'000};       // wait for an unreachable server
  bool read_only = false;                        // no transaction writes, and nothing is migrated
};

// `create`: makes the history if the database has none; else that is not_found.
Result<std::unique_ptr<HistoryStore>> OpenPostgresqlHistory(const std::string& url, bool create,
                                                            PostgresqlLimits limits = {});

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_OPEN_STORE_H_
