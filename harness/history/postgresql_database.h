// A history that is the schema "rharness" of a PostgreSQL database.
#ifndef RHARNESS_HARNESS_HISTORY_POSTGRESQL_DATABASE_H_
#define RHARNESS_HARNESS_HISTORY_POSTGRESQL_DATABASE_H_

#include <memory>
#include <string>
#include <vector>

#include "harness/history/database.h"
#include "harness/history/libpq.h"
#include "harness/history/open_store.h"

namespace rharness {

class PostgresqlDatabase : public Database {
 public:
  // Connects and, with `create`, makes the schema when there is none; refuses one that is not that
  // of its version, and applies the migrations that are due. Reconnects a lost connection, with
  // growing pauses, for `limits.gone`. Errors: those of HistoryStore::Open.
  static Result<std::unique_ptr<Database>> Open(const std::string& url, bool create,
                                                PostgresqlLimits limits = {});

 private:
  PostgresqlDatabase(const Libpq& libpq, ConnectionOptions options, PostgresqlLimits limits);
  Error ErrorOf(const std::exception& exception) override;
  bool ComeBack(int failures) override;
  std::vector<std::string> SchemaSeen() override;
  std::vector<std::string> SchemaAt(int version) override;

  Status Connect();
  // The message of a failed connection, and the remedy.
  Error WhyNotConnected(const std::string& message) const;
  Error Forbidden(const std::string& message) const;
  Status RequireSchema(bool create);
  PGconn* connection();
  bool Lost();

  const Libpq& libpq_;
  const ConnectionOptions options_;  // of the URL
  const PostgresqlLimits limits_;
  std::string database_;  // for advice
  bool lost_ = false;
  bool gave_up_ = false;  // it did not come back
  bool again_ = false;    // the server ended a transaction that would have conflicted
};

}  // namespace rharness

#endif  // RHARNESS_HARNESS_HISTORY_POSTGRESQL_DATABASE_H_
