// Connecting to a server, coming back to it, and its errors.
#include "harness/history/postgresql_database.h"

#include <fmt/format.h>
#include <soci/postgresql/soci-postgresql.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "harness/base/clock.h"
#include "harness/base/log.h"
#include "harness/history/postgresql_schema.h"
#include "harness/history/postgresql_url.h"

namespace rharness {
namespace {

// libpq's settings, unless the URL or a variable sets them: to notice a lost server.
constexpr std::array<std::pair<const char*, const char*>, 6> kOwnOptions = {
    {{"fallback_application_name", "rharness"},
     {"connect_timeout", "10"},
     {"keepalives_idle", "30"},
     {"keepalives_interval", "10"},
     {"keepalives_count", "3"},
     {"tcp_user_timeout", "60000"}}};

std::string ConnectionText(const ConnectionOptions& options) {
  std::string text;
  for (const auto& [name, value] : options) {
    std::string quoted;
    for (const char c : value) {
      if (c == '\'' || c == '\\') quoted += '\\';
      quoted += c;
    }
    text += fmt::format("{}{}='{}'", text.empty() ? "" : " ", name, quoted);
  }
  return text;
}

std::string Of(const ConnectionOptions& options, const ConnectionOptions& defaults,
               const char* name, const char* otherwise) {
  for (const ConnectionOptions* some : {&options, &defaults}) {
    const auto found = some->find(name);
    if (found != some->end() && !found->second.empty()) return found->second;
  }
  return otherwise;
}

// "ERROR:  42501: permission denied ..." has the code between colons. Source: libpq's
// PQsetErrorVerbosity; the severity may be in another language.
struct ServerError {
  std::string code;  // empty: not the server's
  std::string message;
};
ServerError Parse(const std::string& text) {
  for (std::size_t at = text.find(":  "); at != std::string::npos; at = text.find(":  ", at + 1)) {
    const std::string_view rest = std::string_view(text).substr(at + 3);
    if (rest.size() < 7 || rest.substr(5, 2) != ": ") continue;
    const std::string_view code = rest.substr(0, 5);
    if (!std::ranges::all_of(code,
                             [](unsigned char c) { return std::isupper(c) || std::isdigit(c); }))
      continue;
    const std::string_view message = rest.substr(7);
    return {std::string(code), std::string(message.substr(0, message.find('\n')))};
  }
  // SOCI's words, libpq's, and a question of libpq's, a line each.
  constexpr std::string_view kSoci = "Cannot establish connection to the database.";
  std::string_view rest = text;
  if (rest.starts_with(kSoci)) rest.remove_prefix(kSoci.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\n"), rest.size()));
  return {"", std::string(rest.substr(0, rest.find('\n')))};
}

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

PostgresqlDatabase::PostgresqlDatabase(const Libpq& libpq, ConnectionOptions options,
                                       PostgresqlLimits limits)
    : Database({}, PostgresqlDialect()),
      libpq_(libpq),
      options_(std::move(options)),
      limits_(limits) {
  const ConnectionOptions defaults = DefaultOptions(libpq_);
  const std::string user = Of(options_, defaults, "user", "");
  database_ = Of(options_, defaults, "dbname", user.c_str());
  name_ = fmt::format("PostgreSQL at {}:{}, database {}",
                      Of(options_, defaults, "host", "the local socket"),
                      Of(options_, defaults, "port", "5432"), database_);
}

PGconn* PostgresqlDatabase::connection() {
  auto* backend = static_cast<soci::postgresql_session_backend*>(sql_.get_backend());
  return backend == nullptr ? nullptr : backend->conn_;
}

bool PostgresqlDatabase::Lost() {
  return connection() == nullptr || libpq_.status(connection()) != CONNECTION_OK;
}

Error PostgresqlDatabase::WhyNotConnected(const std::string& message) const {
  const std::string text = Parse(message).message;
  const auto say = [&](const std::string& advice) { return fmt::format("{}; {}", text, advice); };
  if (Has(text, "no password supplied") || Has(text, "password authentication failed")) {
    return InvalidInput(say(fmt::format("check the password: {}", kPasswordAdvice)), name_);
  }
  if (Has(text, "database \"") && Has(text, "does not exist")) {
    return NotFound(say(fmt::format("createdb {} makes it", database_)), name_);
  }
  if (Has(text, "role \"") && Has(text, "does not exist")) {
    return InvalidInput(say("name a user that the server knows: postgresql://USER@..., PGUSER"),
                        name_);
  }
  if (Has(text, "pg_hba.conf")) {
    return InvalidInput(say("the server's pg_hba.conf does not let this user in from here, or only "
                            "with TLS (sslmode=require)"),
                        name_);
  }
  if (Has(text, "SSL") || Has(text, "certificate")) {
    return IoError(say("check sslmode, sslrootcert, sslcert and sslkey, or PGSSLMODE and so on"),
                   name_);
  }
  return IoError(say("is the server there, and does the URL name its host and port?"), name_);
}

// The session believes nothing but its schema, and waits for nothing for ever.
Status PostgresqlDatabase::Connect() {
  ConnectionOptions options = options_;
  const ConnectionOptions defaults = DefaultOptions(libpq_);
  for (const auto& [name, value] : kOwnOptions) {
    const auto given = defaults.find(name);
    if (given == defaults.end() || given->second.empty()) options.emplace(name, value);
  }
  try {
    sql_.close();
    sql_.open(*libpq_.factory, ConnectionText(options));
  } catch (const std::exception& exception) {
    return WhyNotConnected(MessageOf(exception));
  }
  libpq_.set_verbosity(connection(), PQERRORS_VERBOSE);
  name_ = fmt::format("PostgreSQL at {}:{}, database {}", libpq_.host(connection()),
                      libpq_.port(connection()), libpq_.database(connection()));
  database_ = libpq_.database(connection());
  for (const std::string& setting :
       {std::string("client_min_messages = error"),
        fmt::format("search_path = {}, pg_temp", kHistorySchema),
        fmt::format("statement_timeout = {}", limits_.statement.count()),
        fmt::format("lock_timeout = {}", limits_.lock.count()),
        std::string("idle_in_transaction_session_timeout = 60000"),
        std::string("default_transaction_isolation = 'read committed'"),
        fmt::format("default_transaction_read_only = {}", limits_.read_only ? "on" : "off"),
        std::string("synchronous_commit = on"), std::string("client_encoding = 'UTF8'"),
        std::string("standard_conforming_strings = on")}) {
    sql_ << "SET " + setting;
  }
  lost_ = gave_up_ = false;
  return {};
}

bool PostgresqlDatabase::ComeBack(int failures) {
  constexpr int kMostAgain = 10;
  if (again_) {
    again_ = false;
    return failures <= kMostAgain;
  }
  constexpr int kMostLost = 5;
  if (!lost_ || failures > kMostLost) return false;
  LogWarning(name_ + ": the connection was lost; connecting again");
  Clock& clock = SystemClock();
  // After a wait in vain for this server, tries once more but does not wait again.
  const auto deadline =
      clock.Monotonic() + (gave_up_ ? std::chrono::milliseconds(0) : limits_.gone);
  gave_up_ = true;
  std::chrono::milliseconds pause{100};
  for (;;) {
    try {
      if (Connect().ok()) return true;
    } catch (const std::exception&) {
      // Gone again while it was being set up.
    }
    if (clock.Monotonic() + pause > deadline) return false;
    clock.SleepFor(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(5000));
  }
}

Error PostgresqlDatabase::Forbidden(const std::string& message) const {
  return IoError(fmt::format("{}; its owner grants what is needed: USAGE on schema {} and SELECT, "
                             "INSERT, UPDATE, DELETE on its tables",
                             message, kHistorySchema),
                 name_);
}

Error PostgresqlDatabase::ErrorOf(const std::exception& exception) {
  const auto [code, message] = Parse(MessageOf(exception));
  lost_ = Lost() || code.starts_with("57P") || code.starts_with("08");
  again_ = !lost_ && (code == "40001" || code == "40P01");
  const auto is = [&code = code](std::string_view prefix) { return code.starts_with(prefix); };
  if (lost_) {
    return IoError(fmt::format("the connection was lost ({}) and could not be made again within {}",
                               message, FormatDuration(limits_.gone)),
                   name_);
  }
  if (is("55P03")) {
    return TimeoutError(
        fmt::format("locked by another process for more than {}", FormatDuration(limits_.lock)),
        name_);
  }
  if (is("57014")) {
    return TimeoutError(fmt::format("gave no answer within {}", FormatDuration(limits_.statement)),
                        name_);
  }
  if (is("40")) return TimeoutError("other writers were in the way again and again", name_);
  if (is("42501")) return Forbidden(message);
  if (is("25006")) return IoError("the server takes no writes: " + message, name_);
  if (is("XX001") || is("XX002")) {
    return IntegrityError("the database is damaged: " + message, name_);
  }
  if (is("22021") || is("22P05")) {
    return InvalidInput("a text that the database cannot keep: " + message, name_);
  }
  if (is("53") || is("58")) return IoError("cannot read or write the database: " + message, name_);
  return InternalError(fmt::format("unexpected database error {}: {}", code, message), name_);
}

std::vector<std::string> PostgresqlDatabase::SchemaSeen() {
  std::vector<std::string> parts;
  std::string part;
  soci::statement query = (sql_.prepare << PostgresqlSchemaQuery(), soci::into(part));
  query.execute();
  while (query.fetch()) parts.push_back(part);
  std::sort(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string> PostgresqlDatabase::SchemaAt(int version) {
  return PostgresqlSchemaAt(version);
}

Status PostgresqlDatabase::RequireSchema(bool create) {
  int schemas = 0, closed = 0, tables = 0;
  const std::string schema = kHistorySchema;
  sql_ << "SELECT COUNT(*), COUNT(*) FILTER (WHERE NOT has_schema_privilege(oid, 'USAGE')) FROM "
          "pg_namespace WHERE nspname = :name",
      soci::use(schema), soci::into(schemas), soci::into(closed);
  if (closed > 0) return Forbidden("permission denied for schema " + schema);
  sql_ << fmt::format("SELECT COUNT(*) FROM ({}) t", dialect().list_tables), soci::into(tables);
  if (tables > 0) return {};
  if (!create) {
    return NotFound("no history in this database; `rharness history add` makes one", name_);
  }
  if (schemas > 0) return {};
  return Write([&]() -> Status {  // two may come at once
    sql_ << fmt::format("CREATE SCHEMA IF NOT EXISTS {}", kHistorySchema);
    return {};
  });
}

Result<std::unique_ptr<Database>> PostgresqlDatabase::Open(const std::string& url, bool create,
                                                           PostgresqlLimits limits) {
  RETURN_IF_ERROR(CheckPostgresqlUrl(url));
  ASSIGN_OR_RETURN(const Libpq* libpq, LoadLibpq());
  ASSIGN_OR_RETURN(ConnectionOptions options, ReadPostgresqlUrl(*libpq, url));
  std::unique_ptr<PostgresqlDatabase> database(
      new PostgresqlDatabase(*libpq, std::move(options), limits));
  RETURN_IF_ERROR(database->Guard([&] { return database->Connect(); }));
  RETURN_IF_ERROR(database->Guard([&] { return database->RequireSchema(create); }));
  RETURN_IF_ERROR(database->Guard(
      [&] { return limits.read_only ? database->RequireNewest() : database->Migrate(); }));
  return std::unique_ptr<Database>(std::move(database));
}

}  // namespace rharness
