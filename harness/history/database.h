// One open SQLite database, migrated, and the fence around SOCI: no exception leaves Guard or
// Write.
//
// Role: private to this folder; only database.cc and store.cc include it, and with it SOCI.
#ifndef RHARNESS_HARNESS_HISTORY_DATABASE_H_
#define RHARNESS_HARNESS_HISTORY_DATABASE_H_

#include <soci/soci.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <type_traits>

#include "harness/base/result.h"

namespace rharness {

class Database {
 public:
  // Creates the file when it is missing, sets the journal, durability and the busy timeout, refuses
  // a schema that is not to the letter that of its version (integrity), and applies the migrations
  // that are due. No Guard or Write outlasts `answer_timeout` (timeout). Errors: as
  // HistoryStore::Open.
  static Result<std::unique_ptr<Database>> Open(
      const std::filesystem::path& path, std::chrono::milliseconds busy_timeout,
      std::chrono::milliseconds answer_timeout = std::chrono::minutes(10));

  soci::session& sql() { return sql_; }
  const std::string& path() const { return path_; }

  // f() returns a Result; what it throws becomes an Error.
  template <class F>
  std::invoke_result_t<F> Guard(F f) {
    deadline_ = std::chrono::steady_clock::now() + answer_timeout_;
    try {
      return f();
    } catch (const std::exception& exception) {
      return ErrorOf(exception);
    }
  }

  // f() in a transaction that holds the write lock from its start, so that what f reads is what it
  // writes upon. Committed when f succeeds, else rolled back.
  template <class F>
  std::invoke_result_t<F> Write(F f) {
    return Guard([&]() -> std::invoke_result_t<F> {
      Transaction transaction(sql_);
      auto result = f();
      if (result.ok()) transaction.Commit();
      return result;
    });
  }

 private:
  class Transaction {
   public:
    explicit Transaction(soci::session& sql);
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();  // rolls back unless committed
    void Commit();

   private:
    soci::session& sql_;
    bool open_ = true;
  };

  Database(std::string path, std::chrono::milliseconds busy_timeout,
           std::chrono::milliseconds answer_timeout)
      : path_(std::move(path)), busy_timeout_(busy_timeout), answer_timeout_(answer_timeout) {}
  Error ErrorOf(const std::exception& exception) const;
  void Connect();
  Status SetJournal();
  Result<int> SchemaVersion();
  Status CheckSchema(int version);
  Status Migrate();

  std::string path_;
  std::chrono::milliseconds busy_timeout_;
  std::chrono::milliseconds answer_timeout_;
  std::chrono::steady_clock::time_point deadline_;
  soci::session sql_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_DATABASE_H_
