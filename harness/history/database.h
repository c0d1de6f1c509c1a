// One open database of a history, migrated, and the fence around SOCI: no exception leaves Guard,
// Write or Claim.
//
// Role: private to this folder, as is SOCI. sqlite_database.h and postgresql_database.h have the
// parts that differ.
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
#include "harness/history/word_column.h"

namespace rharness {

class Database {
 public:
  virtual ~Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  soci::session& sql() { return sql_; }
  const Dialect& dialect() const { return dialect_; }
  // The file, or the server and its database: the place in errors.
  const std::string& name() const { return name_; }

  // f() returns a Result; an exception of it becomes an Error. If the connection was lost and comes
  // back, f is called again, so it must be repeatable: it writes in a transaction that writes the
  // same twice.
  template <class F>
  std::invoke_result_t<F> Guard(F f) {
    for (int failures = 0;;) {
      Begin();
      try {
        auto result = f();
        End();
        return result;
      } catch (const UnknownWordInColumn& word) {
        return UnknownWordSeen(word);
      } catch (const std::exception& exception) {
        Error error = ErrorOf(exception);
        if (!ComeBack(++failures)) return error;
      }
    }
  }

  // f() in a transaction that holds the write lock from its start, so that f writes upon what it
  // read. Committed when f succeeds, else rolled back.
  template <class F>
  std::invoke_result_t<F> Write(F f) {
    return In(dialect_.begin_write, std::move(f));
  }

  // f() in a transaction that sees the database as at its start, and writes nothing.
  template <class F>
  std::invoke_result_t<F> Read(F f) {
    return In(dialect_.begin_read, std::move(f));
  }

  // f() in a transaction that waits for no long write of others, if the database can do that; f
  // itself reads the rows that it writes upon, and locks them.
  template <class F>
  std::invoke_result_t<F> Claim(F f) {
    return In(dialect_.begin_claims, std::move(f));
  }

  // Whether this version knows all words (known_words.h); called at opening, and by long-lived
  // readers. Not a Guard of its own. Errors: unsupported.
  Status CheckWords();

 protected:
  Database(std::string name, const Dialect& dialect) : name_(std::move(name)), dialect_(dialect) {}

  virtual void Begin() {}  // before each f
  virtual void End() {}    // after each f; throws where what f did does not count
  virtual Error ErrorOf(const std::exception& exception) = 0;
  // After the n-th failure: whether to call f again, since the lost connection is back, or since
  // the file was replaced meanwhile.
  virtual bool ComeBack(int /*failures*/) { return false; }
  // All parts of the schema, sorted: as found, and as of this version.
  virtual std::vector<std::string> SchemaSeen() = 0;
  virtual std::vector<std::string> SchemaAt(int version) = 0;

  // Applies the migrations that are due. Errors: invalid_input (something else's database),
  // integrity (a schema that is not that of its version), unsupported (a newer one, or a word of
  // one).
  Status Migrate();
  // For readers without write access: errors as above, and invalid_input for an older schema, which
  // a writer must migrate.
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
  // A newer version wrote it since this was opened: the error of CheckWords.
  Error UnknownWordSeen(const UnknownWordInColumn& word);

  const Dialect& dialect_;
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_DATABASE_H_
