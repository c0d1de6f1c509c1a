// A PostgreSQL server of one's own for tests: a new cluster below one temporary folder, on a socket
// there and a loopback port, run by an unprivileged user where the tests are root.
#ifndef RHARNESS_TESTS_HISTORY_POSTGRESQL_WORLD_H_
#define RHARNESS_TESTS_HISTORY_POSTGRESQL_WORLD_H_

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "tests/base/reaper.h"

namespace rharness {

class PostgresqlWorld {
 public:
  // Started when it is first asked for; it ends with this program.
  static PostgresqlWorld& Shared();

  PostgresqlWorld();
  ~PostgresqlWorld();
  PostgresqlWorld(const PostgresqlWorld&) = delete;
  PostgresqlWorld& operator=(const PostgresqlWorld&) = delete;

  // What is missing; empty: the server answers.
  const std::string& problem() const { return problem_; }
  std::filesystem::path folder() const { return folder_->path(); }
  int port() const { return port_; }

  // A new, empty database; its URL over the socket, as the superuser "rharness".
  std::string MakeDatabase();
  std::string Url(const std::string& database) const;
  // "postgresql://USER@127.0.0.1:PORT/DATABASE". The user "guarded" has the password "s3cret", and
  // "secure" is let in with TLS alone; both may do anything in every database.
  std::string TcpUrl(const std::string& user, const std::string& database) const;
  // The certificate that signed the server's, which is localhost's.
  std::filesystem::path certificate() const { return folder() / "server.crt"; }

  void Kill();   // as a crash does
  void Start();  // sets problem()

 private:
  void Prepare();
  ProcessResult AsServer(std::vector<std::string> argv) const;
  std::vector<std::string> ServerArgv(std::vector<std::string> argv) const;
  bool Answers() const;

  std::string problem_;
  std::string binaries_;
  std::unique_ptr<ScopedTempDir> folder_;
  std::unique_ptr<Reaper> reaper_;
  int port_ = 0;
  int databases_ = 0;
  std::atomic<int> pid_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// libpq without the store: what somebody with a database tool can do in the history at a URL.
class RawPostgresql {
 public:
  explicit RawPostgresql(const std::string& url);
  ~RawPostgresql();
  RawPostgresql(const RawPostgresql&) = delete;
  RawPostgresql& operator=(const RawPostgresql&) = delete;

  // The error's text; empty: success. Several statements are one transaction.
  std::string Run(const std::string& statements);
  // Rows as "a|b", NULL as "null".
  std::vector<std::string> Rows(const std::string& query);

 private:
  void* connection_ = nullptr;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_HISTORY_POSTGRESQL_WORLD_H_
