// Making a cluster, running its server, and talking to it through libpq.
#include "tests/history/postgresql_world.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>

namespace rharness {
namespace {

namespace fs = std::filesystem;

constexpr char kServerUser[] = "nobody";

int FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ::bind(fd, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(fd);
  return ntohs(address.sin_port);
}

// Where Debian keeps the server's programs, which are not on PATH there.
std::string FindBinaries() {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator one("/usr/lib/postgresql", error), end; !error && one != end;
       one.increment(error)) {
    if (fs::exists(one->path() / "bin/postgres", error)) folders.push_back(one->path() / "bin");
  }
  if (folders.empty()) return {};
  return std::ranges::max_element(folders)->string();
}

ProcessResult RunIn(const fs::path& folder, std::vector<std::string> argv) {
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(60);
  return RunProcess({std::move(argv), {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}}, folder},
                    limits);
}

}  // namespace

PostgresqlWorld& PostgresqlWorld::Shared() {
  static PostgresqlWorld world;
  return world;
}

PostgresqlWorld::PostgresqlWorld() : binaries_(FindBinaries()), port_(FreePort()) {
  if (binaries_.empty()) {
    problem_ = "no PostgreSQL server is installed (below /usr/lib/postgresql)";
    return;
  }
  auto folder = ScopedTempDir::Make("rharness-postgresql-");
  if (!folder.ok()) {
    problem_ = folder.error().ToString();
    return;
  }
  folder_ = std::make_unique<ScopedTempDir>(std::move(*folder));
  reaper_ = std::make_unique<Reaper>(folder_->path());
  problem_ = reaper_->problem();
  if (!problem_.empty()) return;
  Prepare();
  if (problem_.empty()) Start();
}

PostgresqlWorld::~PostgresqlWorld() { Kill(); }

std::vector<std::string> PostgresqlWorld::ServerArgv(std::vector<std::string> argv) const {
  argv.front() = binaries_ + "/" + argv.front();
  if (::geteuid() != 0) return argv;
  std::vector<std::string> as_other = {"setpriv", "--reuid", kServerUser,
                                       "--regid", "nogroup", "--clear-groups"};
  as_other.insert(as_other.end(), argv.begin(), argv.end());
  return as_other;
}

ProcessResult PostgresqlWorld::AsServer(std::vector<std::string> argv) const {
  return RunIn(folder(), ServerArgv(std::move(argv)));
}

void PostgresqlWorld::Prepare() {
  const fs::path at = folder();
  const auto own = [&](const fs::path& path) {
    const passwd* user = ::getpwnam(kServerUser);
    if (::geteuid() == 0 && user != nullptr) {
      (void)!::chown(path.c_str(), user->pw_uid, user->pw_gid);
    }
  };
  fs::permissions(at, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
  own(at);
  const ProcessResult made =
      AsServer({"initdb", "-D", (at / "data").string(), "-U", "rharness", "--auth=trust", "-N",
                "-E", "UTF8", "--locale-provider=icu", "--icu-locale=en-US"});
  if (!made.outcome.Succeeded()) {
    problem_ = "initdb: " + made.stderr_text;
    return;
  }
  const ProcessResult key =
      RunIn(at, {"openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                 "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
                 (at / "server.key").string(), "-out", (at / "server.crt").string()});
  if (!key.outcome.Succeeded()) {
    problem_ = "openssl: " + key.stderr_text;
    return;
  }
  own(at / "server.key");
  fs::permissions(at / "server.key", fs::perms::owner_read);
  const auto configuration = ReadFile(at / "data/postgresql.conf");
  (void)WriteFileAtomic(
      at / "data/postgresql.conf",
      fmt::format("{}\nlisten_addresses = '127.0.0.1'\nport = {}\nunix_socket_directories = "
                  "'{}'\nfsync = off\nssl = on\nssl_cert_file = '{}'\nssl_key_file = "
                  "'{}'\nrestart_after_crash = on\n",
                  configuration.ok() ? *configuration : "", port_, at.string(),
                  (at / "server.crt").string(), (at / "server.key").string()));
  (void)WriteFileAtomic(at / "data/pg_hba.conf",
                        "local all all trust\nhostssl all secure 127.0.0.1/32 trust\n"
                        "hostnossl all secure 127.0.0.1/32 reject\n"
                        "host all guarded 127.0.0.1/32 scram-sha-256\n"
                        "host all stranger 127.0.0.1/32 reject\n"
                        "host all all 127.0.0.1/32 trust\n");
  for (const char* name : {"data/postgresql.conf", "data/pg_hba.conf", "server.crt"}) {
    own(at / name);
    fs::permissions(at / name, fs::perms::others_read | fs::perms::group_read |
                                   fs::perms::owner_read | fs::perms::owner_write);
  }
}

bool PostgresqlWorld::Answers() const {
  PGconn* connection = PQconnectdb(Url("postgres").c_str());
  const bool answers = PQstatus(connection) == CONNECTION_OK;
  PQfinish(connection);
  return answers;
}

void PostgresqlWorld::Start() {
  stop_ = false;
  thread_ = std::thread([this] {
    RunProcess(
        {ServerArgv({"postgres", "-D", (folder() / "data").string()}),
         {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}},
         folder()},
        {}, [this](int pid) { pid_ = pid; }, [this] { return stop_.load(); });
  });
  for (int i = 0; i < 600; ++i) {
    if (Answers()) {
      const bool first = databases_ == 0;
      if (first) {
        RawPostgresql(Url("postgres"))
            .Run(
                "CREATE USER guarded SUPERUSER PASSWORD 's3cret'; CREATE USER secure SUPERUSER; "
                "CREATE USER reader; CREATE USER stranger");
      }
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  problem_ = "the PostgreSQL server did not come up within 30 s";
}

// SIGQUIT is "immediate": no shutdown, and a recovery at the next start.
void PostgresqlWorld::Kill() {
  if (!thread_.joinable()) return;
  if (pid_ > 0) ::kill(pid_, SIGQUIT);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  stop_ = true;
  thread_.join();
  pid_ = 0;
}

std::string PostgresqlWorld::MakeDatabase() {
  const std::string name = fmt::format("history_{}_{}", ::getpid(), ++databases_);
  EXPECT_EQ(RawPostgresql(Url("postgres")).Run("CREATE DATABASE " + name), "");
  return Url(name);
}

std::string PostgresqlWorld::Url(const std::string& database) const {
  return fmt::format("postgresql://rharness@/{}?host={}&port={}", database, folder().string(),
                     port_);
}

std::string PostgresqlWorld::TcpUrl(const std::string& user, const std::string& database) const {
  return fmt::format("postgresql://{}@127.0.0.1:{}/{}", user, port_, database);
}

RawPostgresql::RawPostgresql(const std::string& url) {
  PGconn* connection = PQconnectdb(url.c_str());
  connection_ = connection;
  EXPECT_EQ(PQstatus(connection), CONNECTION_OK) << PQerrorMessage(connection);
  PQclear(PQexec(connection, "SET client_min_messages = error; SET search_path = rharness"));
}

RawPostgresql::~RawPostgresql() { PQfinish(static_cast<PGconn*>(connection_)); }

std::string RawPostgresql::Run(const std::string& statements) {
  PGresult* result = PQexec(static_cast<PGconn*>(connection_), statements.c_str());
  const std::string message = PQresultErrorMessage(result);
  PQclear(result);
  return message;
}

std::vector<std::string> RawPostgresql::Rows(const std::string& query) {
  PGresult* result = PQexec(static_cast<PGconn*>(connection_), query.c_str());
  EXPECT_EQ(PQresultStatus(result), PGRES_TUPLES_OK) << query << PQresultErrorMessage(result);
  std::vector<std::string> rows;
  for (int i = 0; i < PQntuples(result); ++i) {
    std::string& row = rows.emplace_back();
    for (int j = 0; j < PQnfields(result); ++j) {
      row += j == 0 ? "" : "|";
      row += PQgetisnull(result, i, j) != 0 ? "null" : PQgetvalue(result, i, j);
    }
  }
  PQclear(result);
  return rows;
}

}  // namespace rharness
