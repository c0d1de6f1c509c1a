// A store with a busy timeout of one's own. Role: HistoryStore::Open's second half; tests.
#ifndef RHARNESS_HARNESS_HISTORY_SQLITE_STORE_H_
#define RHARNESS_HARNESS_HISTORY_SQLITE_STORE_H_

#include <chrono>
#include <filesystem>
#include <memory>

#include "harness/history/store.h"

namespace rharness {

// `busy_timeout`: how long to wait for another process's lock before a timeout error.
Result<std::unique_ptr<HistoryStore>> OpenSqliteHistory(const std::filesystem::path& path,
                                                        std::chrono::milliseconds busy_timeout);

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_SQLITE_STORE_H_
