// What is about PostgreSQL alone: URLs, passwords, TLS, rights, strangers' schemas, a server that
// goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "harness/base/subprocess.h"
#include "harness/history/location.h"
#include "harness/history/open_store.h"
#include "harness/history/postgresql_url.h"
#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(PostgresqlUrl, WithAPasswordIsRefusedAndNeverRepeated) {
  for (const char* url :
       {"postgresql://user:s3cret@db.example/history", "postgres://user:s3cret@db.example",
        "postgresql://user:@db.example/history", "postgresql://user:s3/cret@db.example/history",
        "postgresql://user:s3?cret@db.example/history", "postgresql://user:s3@cret@db/history",
        "postgresql://db.example/history?password=s3cret",
        "postgresql://db.example/history?sslmode=require&password=s3cret",
        "postgresql://db.example/history?pass%77ord=s3cret",
        "postgresql://db.example/history?sslpassword=s3cret"}) {
    const auto store = HistoryStore::Open(url);
    ASSERT_FALSE(store.ok()) << url;
    EXPECT_EQ(store.error().code, ErrorCode::kInvalidInput) << url;
    EXPECT_THAT(store.error().ToString(),
                AllOf(Not(HasSubstr("s3")), HasSubstr("PGPASSFILE"), HasSubstr("~/.pgpass"),
                      HasSubstr("PGPASSWORD"), HasSubstr("service")))
        << url;
    EXPECT_FALSE(ResolveHistoryUrl(url).ok()) << url;
  }
}

TEST(PostgresqlUrl, ThatIsNoneIsRefusedWithoutRepeatingIt) {
  for (const char* url : {"postgresql:user=me password=s3cret", "postgres:s3cret",
                          "postgresql://h/d?s3cret", "postgresql://h/d?a%2=s3cret",
                          "postgresql://h/d?x='s3cret'", "postgresql://h/d?nonsense=s3cret"}) {
    const auto store = HistoryStore::Open(url);
    ASSERT_FALSE(store.ok()) << url;
    EXPECT_EQ(store.error().code, ErrorCode::kInvalidInput) << url;
    EXPECT_THAT(store.error().ToString(), Not(HasSubstr("s3cret"))) << url;
  }
}

TEST(PostgresqlUrl, StaysAsItIs) {
  for (const char* url : {"postgresql://db.example:5433/runs?sslmode=verify-full",
                          "postgresql:///runs?host=/var/run/postgresql", "postgres://me@h1,h2/runs",
                          "postgresql://[::1]:5432/runs", "postgresql://"}) {
    EXPECT_EQ(ResolveHistoryUrl(url).value(), url);
  }
}

class PostgresqlTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!World().problem().empty()) GTEST_SKIP() << World().problem();
    url_ = World().MakeDatabase();
    database_ = url_.substr(url_.find("@/") + 2, url_.find('?') - url_.find("@/") - 2);
  }
  void TearDown() override {
    for (const char* name : {"PGPASSWORD", "PGPASSFILE", "PGSSLMODE", "PGSSLROOTCERT",
                             "PGSERVICEFILE", "PGHOST", "PGPORT"}) {
      ::unsetenv(name);
    }
  }
  static PostgresqlWorld& World() { return PostgresqlWorld::Shared(); }
  std::string Tcp(const std::string& user, const std::string& parameters = {}) const {
    return World().TcpUrl(user, database_) + parameters;
  }
  static Error Refusal(const std::string& url) {
    const auto store = HistoryStore::OpenExisting(url);
    EXPECT_FALSE(store.ok()) << url;
    return store.ok() ? Error{} : store.error();
  }
  // A history with one run, changed as a stranger could.
  Error RefusalAfter(const std::string& statements) {
    EXPECT_TRUE(HistoryStore::Open(url_).ok());
    EXPECT_EQ(RawPostgresql(url_).Run(statements), "") << statements;
    const auto store = HistoryStore::Open(url_);
    EXPECT_FALSE(store.ok()) << statements;
    return store.ok() ? Error{} : store.error();
  }

  std::string url_;
  std::string database_;
};

TEST_F(PostgresqlTest, IsNoHistoryUntilSomethingIsAdded) {
  const Error error = Refusal(url_);
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_THAT(error.ToString(), AllOf(HasSubstr("history add"), HasSubstr(database_)));
  EXPECT_EQ(RawPostgresql(url_).Rows("SELECT COUNT(*) FROM pg_namespace WHERE nspname = "
                                     "'rharness'"),
            std::vector<std::string>{"0"});
  ASSERT_TRUE(HistoryStore::Open(url_).ok());
  EXPECT_TRUE(HistoryStore::OpenExisting(url_).ok());
}

TEST_F(PostgresqlTest, SaysWhichServerIsNotReached) {
  const std::string url = "postgresql://127.0.0.1:1/runs?connect_timeout=2";
  const Error error = Refusal(url);
  EXPECT_EQ(error.code, ErrorCode::kIo);
  EXPECT_THAT(error.ToString(), AllOf(HasSubstr("127.0.0.1:1"), HasSubstr("database runs"),
                                      HasSubstr("refused"), HasSubstr("host and port")));
}

TEST_F(PostgresqlTest, SaysWhichDatabaseIsNotThere) {
  const Error error = Refusal(World().Url("nowhere"));
  EXPECT_EQ(error.code, ErrorCode::kNotFound);
  EXPECT_THAT(error.ToString(), HasSubstr("createdb nowhere"));
}

TEST_F(PostgresqlTest, TakesAPasswordFromItsFilesAndVariables) {
  const Error without = Refusal(Tcp("guarded"));
  EXPECT_EQ(without.code, ErrorCode::kInvalidInput);
  EXPECT_THAT(without.ToString(), HasSubstr("PGPASSFILE"));
  ::setenv("PGPASSWORD", "wr0ng", 1);
  const Error wrong = Refusal(Tcp("guarded"));
  EXPECT_EQ(wrong.code, ErrorCode::kInvalidInput);
  EXPECT_THAT(wrong.ToString(), AllOf(HasSubstr("password authentication failed"),
                                      HasSubstr(database_), Not(HasSubstr("wr0ng"))));
  ::setenv("PGPASSWORD", "s3cret", 1);
  EXPECT_TRUE(HistoryStore::Open(Tcp("guarded")).ok());
  ::unsetenv("PGPASSWORD");
  const auto folder = ScopedTempDir::Make().value();
  const auto file = folder.path() / "pgpass";
  ASSERT_TRUE(WriteFileAtomic(file, "*:*:*:guarded:s3cret\n").ok());
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  ::setenv("PGPASSFILE", file.c_str(), 1);
  EXPECT_TRUE(HistoryStore::Open(Tcp("guarded")).ok());
  ::unsetenv("PGPASSFILE");
  const auto service = folder.path() / "services";
  ASSERT_TRUE(WriteFileAtomic(service, "[runs]\npassword=s3cret\n").ok());
  ::setenv("PGSERVICEFILE", service.c_str(), 1);
  EXPECT_TRUE(HistoryStore::Open(Tcp("guarded", "?service=runs")).ok());
}

TEST_F(PostgresqlTest, SpeaksTlsAndChecksTheServersCertificate) {
  EXPECT_TRUE(HistoryStore::Open(Tcp("secure", "?sslmode=require")).ok());
  const Error plain = Refusal(Tcp("secure", "?sslmode=disable"));
  EXPECT_THAT(plain.ToString(), HasSubstr("pg_hba.conf"));
  const std::string root = "&sslrootcert=" + World().certificate().string();
  EXPECT_TRUE(HistoryStore::Open(Tcp("secure", "?sslmode=verify-full" + root)).ok());
  ::setenv("PGSSLMODE", "verify-full", 1);
  ::setenv("PGSSLROOTCERT", World().certificate().c_str(), 1);
  EXPECT_TRUE(HistoryStore::Open(Tcp("secure")).ok());
  ::setenv("PGSSLROOTCERT", "/nonexistent.crt", 1);
  const Error untrusted = Refusal(Tcp("secure"));
  EXPECT_EQ(untrusted.code, ErrorCode::kIo) << untrusted.ToString();
  EXPECT_THAT(untrusted.ToString(), HasSubstr("sslrootcert"));
}

TEST_F(PostgresqlTest, SaysWhatRightIsMissing) {
  ASSERT_TRUE(HistoryStore::Open(url_).ok());
  const Error error = Refusal(Tcp("reader"));
  EXPECT_EQ(error.code, ErrorCode::kIo);
  EXPECT_THAT(error.ToString(),
              AllOf(HasSubstr("permission denied"), HasSubstr("USAGE on schema")));
  ASSERT_EQ(RawPostgresql(url_).Run("GRANT USAGE ON SCHEMA rharness TO reader; GRANT SELECT ON ALL "
                                    "TABLES IN SCHEMA rharness TO reader"),
            "");
  auto store = HistoryStore::OpenExisting(Tcp("reader"));
  ASSERT_TRUE(store.ok()) << store.error().ToString();
  EXPECT_TRUE((*store)->List(true).ok());
  const auto added = (*store)->Add(MakeManifest("a", kDay1), At(kDay1));
  ASSERT_FALSE(added.ok());
  EXPECT_THAT(added.error().ToString(), HasSubstr("permission denied"));
}

TEST_F(PostgresqlTest, RefusesANewerSchemaByName) {
  const Error error = RefusalAfter("UPDATE rharness_meta SET value = '999'");
  EXPECT_EQ(error.code, ErrorCode::kUnsupported);
  EXPECT_THAT(error.message, HasSubstr("rharness.history.database/v999"));
}

TEST_F(PostgresqlTest, RefusesASchemaThatIsNotOfAHistory) {
  ASSERT_EQ(RawPostgresql(url_).Run("CREATE SCHEMA rharness; CREATE TABLE rharness.bookmarks (url "
                                    "TEXT)"),
            "");
  const auto store = HistoryStore::Open(url_);
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(store.error().ToString(), HasSubstr("something else"));
}

TEST_F(PostgresqlTest, BelievesNothingThatOthersPutIntoTheSchema) {
  const std::vector<std::pair<std::string, std::string>> planted = {
      {"CREATE FUNCTION rharness.evil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; "
       "END "
       "$$; CREATE TRIGGER evil BEFORE INSERT ON verdicts FOR EACH ROW EXECUTE FUNCTION evil()",
       "has 'function evil'"},
      {"CREATE FUNCTION public.evil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END "
       "$$; CREATE TRIGGER evil BEFORE INSERT ON verdicts FOR EACH ROW EXECUTE FUNCTION "
       "public.evil()",
       "has 'trigger evil on verdicts'"},
      {"ALTER TABLE runs RENAME TO elsewhere; CREATE VIEW runs AS SELECT * FROM elsewhere",
       "elsewhere"},
      {"CREATE RULE evil AS ON INSERT TO verdicts DO ALSO SELECT 1", "has 'relation verdicts'"},
      {"ALTER TABLE drills ALTER COLUMN ended_ms SET DEFAULT 1", "has 'column ended_ms of drills'"},
      {"ALTER TABLE drills ADD CHECK (started_ms > 0)", "has 'constraint on drills'"},
      {"CREATE INDEX evil ON runs (lower(run_id))", "has 'index evil on runs'"},
      {"ALTER TABLE runs ENABLE ROW LEVEL SECURITY", "has 'relation runs'"},
      {"DROP TRIGGER runs_no_delete ON runs", "lacks 'trigger runs_no_delete on runs'"},
      {"ALTER TABLE runs DISABLE TRIGGER runs_no_update", "has 'trigger runs_no_update on runs'"},
      {"ALTER TABLE runs DISABLE TRIGGER ALL", "has 'relation "},
      {"CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
       "RETURN NEW; END $$",
       "has 'function refuse_change'"},
      {"ALTER FUNCTION refuse_change() SECURITY DEFINER", "has 'function refuse_change'"},
      {"ALTER TABLE runs OWNER TO reader", "has 'relation runs'"},
      {"ALTER TABLE verdicts DROP CONSTRAINT verdicts_run_id_fkey",
       "lacks 'constraint on verdicts'"},
      {"ALTER TABLE runs SET UNLOGGED", ""},
      {"ALTER TABLE runs ALTER COLUMN family TYPE varchar(9)", "column family of runs"},
  };
  for (const auto& [statements, sentence] : planted) {
    url_ = World().MakeDatabase();
    if (sentence.empty()) continue;
    const Error error = RefusalAfter(statements);
    EXPECT_EQ(error.code, ErrorCode::kIntegrity) << statements << error.ToString();
    EXPECT_THAT(error.message, HasSubstr(sentence)) << statements;
  }
}

TEST_F(PostgresqlTest, ReadsItsOwnSchemaWhateverThePathSays) {
  ASSERT_TRUE(HistoryStore::Open(url_).value()->Add(MakeManifest("a", kDay1), At(kDay1)).ok());
  ASSERT_EQ(RawPostgresql(url_).Run("CREATE TABLE public.runs (run_id TEXT); ALTER DATABASE " +
                                    database_ + " SET search_path = public"),
            "");
  EXPECT_EQ(HistoryStore::Open(url_).value()->List(true)->size(), 1u);
}

TEST_F(PostgresqlTest, GivesUpOnALockWithinItsLimitAndSaysSo) {
  auto store = OpenPostgresqlHistory(url_, true, {.lock = std::chrono::milliseconds(50)}).value();
  RawPostgresql other(url_);
  ASSERT_EQ(other.Run("BEGIN; SELECT pg_advisory_xact_lock(1918398322, 1)"), "");
  const auto added = store->Add(MakeManifest("a", kDay1), At(kDay1));
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(added.error().message, HasSubstr("locked by another process"));
  ASSERT_TRUE(store->TakeClaims({"d", "h", 1, "p", std::chrono::minutes(1)}, {"a"}, 1).ok())
      << "claims wait for no long write";
  ASSERT_EQ(other.Run("ROLLBACK"), "");
  EXPECT_TRUE(store->Add(MakeManifest("a", kDay1), At(kDay1)).ok());
}

TEST_F(PostgresqlTest, GoesOnWhenItsServerIsThereAgain) {
  auto store = HistoryStore::Open(url_).value();
  ASSERT_TRUE(store->Add(MakeManifest("a", kDay1), At(kDay1)).ok());
  World().Kill();
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    World().Start();
  });
  const auto added = store->Add(MakeManifest("b", kDay1), At(kDay1));
  later.join();
  ASSERT_TRUE(added.ok()) << added.error().ToString();
  EXPECT_EQ(store->List(true)->size(), 2u);
}

TEST_F(PostgresqlTest, SaysThatItsServerDidNotComeBack) {
  auto store = OpenPostgresqlHistory(url_, true, {.gone = std::chrono::milliseconds(300)}).value();
  World().Kill();
  const auto added = store->Add(MakeManifest("b", kDay1), At(kDay1));
  World().Start();
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().code, ErrorCode::kIo);
  EXPECT_THAT(added.error().ToString(),
              AllOf(HasSubstr("connection was lost"), HasSubstr(database_)));
  EXPECT_TRUE(store->Add(MakeManifest("b", kDay1), At(kDay1)).ok());
}

}  // namespace
}  // namespace rharness
