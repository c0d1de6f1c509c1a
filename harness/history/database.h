// One open database of a history, migrated, and the fence around SOCI: no exception leaves Guard,
// Write or Claim.
//
// Role: private to this folder, and with it SOCI. What a kind of database does otherwise is in
// sqlite_database.h and postgresql_database.h.
#ifndef RHARNESS_HARNESS_HISTORY_DATABASE_H_
#define RHARNESS_HARNESS_HISTORY_DATABASE_H_

#include <soci/soci.h>

#include <exception>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/history/dialect.h"
#include "harness/history/verdict_column.h"

namespace rharness {

class Database {
 public:
  virtual ~Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  soci::session& sql() { return sql_; }
  const Dialect& dialect() const { return dialect_; }
  // The file, or the server and its database: where an error is.
  const std::string& name() const { return name_; }

  // f() returns a Result; what it throws becomes an Error. Where the connection was lost and comes
  // back, f is called again, so that it must be one that can be: what it writes is a transaction
  // that writes the same twice.
  template <class F>
  std::invoke_result_t<F> Guard(F f) {
    for (int failures = 0;;) {
      Begin();
      try {
        auto result = f();
        End();
        return result;
      } catch (const std::exception& exception) {
        Error error = ErrorOf(exception);
        if (!ComeBack(++failures)) return error;
      }
    }
  }

  // f() in a transaction that holds the write lock from its start, so that what f reads is what it
  // writes upon. Committed when f succeeds, else rolled back.
  template <class F>
  std::invoke_result_t<F> Write(F f) {
    return In(dialect_.begin_write, std::move(f));
  }

  // f() in a transaction that sees the database as it is at its start, and writes nothing.
  template <class F>
  std::invoke_result_t<F> Read(F f) {
    return In(dialect_.begin_read, std::move(f));
  }

  // f() in a transaction that waits for no long write of others, where the database can do that;
  // it reads for itself what it writes upon, and locks it.
  template <class F>
  std::invoke_result_t<F> Claim(F f) {
    return In(dialect_.begin_claims, std::move(f));
  }

  // Whether all words are ones that this version knows (known_words.h); asked when it is opened,
  // and by those who keep it open. Not a Guard of its own. Errors: unsupported.
  Status CheckWords();

 protected:
  Database(std::string name, const Dialect& dialect) : name_(std::move(name)), dialect_(dialect) {}

  virtual void Begin() {}  // before each f
  virtual void End() {}    // after each f; throws where what f did does not count
  virtual Error ErrorOf(const std::exception& exception) = 0;
  // After the n-th failure: whether f is to be called again, since the connection was lost and is
  // there again, or since the file was another one meanwhile.
  virtual bool ComeBack(int /*failures*/) { return false; }
  // Everything that a schema consists of, sorted: as found, and as of this version.
  virtual std::vector<std::string> SchemaSeen() = 0;
  virtual std::vector<std::string> SchemaAt(int version) = 0;

  // Applies the migrations that are due. Errors: invalid_input (something else's database),
  // integrity (a schema that is not that of its version), unsupported (a newer one, or a word of
  // one).
  Status Migrate();
  // For who may only read: errors as above, and invalid_input for an older one, which others
  // migrate.
  Status RequireNewest();
  // 0: there is none.
  Result<int> SchemaVersion();
  // SOCI's own messages, without the statement and its bound values.
  static std::string MessageOf(const std::exception& exception);

  std::string name_;
  soci::session sql_;

 private:
  class Transaction {
   public:
    Transaction(soci::session& sql, const Statements& begin);
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();  // rolls back unless committed
    void Commit();

   private:
    void Rollback();
    soci::session& sql_;
    bool open_ = false;
  };

  template <class F>
  std::invoke_result_t<F> In(const Statements& begin, F f) {
    return Guard([&]() -> std::invoke_result_t<F> {
      Transaction transaction(sql_, begin);
      auto result = f();
      if (result.ok()) transaction.Commit();
      return result;
    });
  }
  Status CheckSchema(int version);

  const Dialect& dialect_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_DATABASE_H_
