// Every older schema becomes the newest one, with its rows.
#include "harness/history/migrations.h"

#include <gtest/gtest.h>

#include "harness/history/postgresql_schema.h"
#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

class MigrationsTest : public HistoryTest {
 protected:
  const Dialect& Words() const { return OnServer() ? PostgresqlDialect() : SqliteDialect(); }
  std::string SchemaOf(const std::string& url) const {
    std::string text;
    const std::string query = OnServer() ? PostgresqlSchemaQuery() + " ORDER BY 1"
                                         : "SELECT type, name, sql FROM sqlite_master ORDER BY "
                                           "type, name";
    for (const std::string& row : RawHistory(url).Rows(query)) text += row + "\n";
    return text;
  }
  std::string Another(const std::string& name) const {
    return OnServer() ? PostgresqlWorld::Shared().MakeDatabase() : (folder_.path() / name).string();
  }
  void RunAll(const Statements& statements, RawHistory* raw) const {
    for (const std::string& statement : statements) ASSERT_EQ(raw->Run(statement), "") << statement;
  }
};

TEST(Migrations, AreNumberedFromOneWithoutGaps) {
  int expected = 1;
  for (const Migration& step : Migrations(SqliteDialect())) EXPECT_EQ(step.version, expected++);
  EXPECT_EQ(NewestSchema(), expected - 1);
  EXPECT_EQ(Migrations(PostgresqlDialect()).back().version, NewestSchema());
}

TEST_P(MigrationsTest, BringEveryOlderSchemaToTheNewestWithItsRows) {
  OpenStore();
  const std::string newest = SchemaOf(Url());
  for (int version = 1; version < NewestSchema(); ++version) {
    const std::string url = Another("v" + std::to_string(version));
    {
      RawHistory raw(url);
      if (OnServer()) RunAll({"CREATE SCHEMA rharness"}, &raw);
      for (const Migration& step : Migrations(Words())) {
        if (step.version <= version) RunAll(step.statements, &raw);
      }
      ASSERT_EQ(raw.Run("UPDATE rharness_meta SET value = '" + std::to_string(version) + "'"), "");
      for (const char* id : {"a", "b"}) {
        ASSERT_EQ(raw.Run("INSERT INTO runs VALUES ('" + std::string(id) +
                          "', 'f', 'c', 'bitwise', 1000, 2.5, 2000, 'sha')"),
                  "");
      }
      // The fifth step ordered the drills.
      ASSERT_EQ(raw.Run(version < 5 ? "INSERT INTO drills (drill_id, started_ms) VALUES "
                                      "('d1', 1), ('d2', 2)"
                                    : "INSERT INTO drills (drill_id, started_ms, sequence) VALUES "
                                      "('d1', 1, 1), ('d2', 2, 2)"),
                "");
      constexpr int kOrder = 5;  // from here on drills are numbered, and a verdict of none is none
      if (version >= kOrder) {
        RunAll(Words().drop_trigger("drills_no_update", "drills"), &raw);
        ASSERT_EQ(raw.Run("UPDATE drills SET sequence = started_ms"), "");
        RunAll({Words().refuse_changes({"drills", {"drill_id"}}).front()}, &raw);
      }
      RunAll({"INSERT INTO verdicts VALUES ('d1', 'a', 'drifted', 3000, 1, '[]')",
              "INSERT INTO verdicts VALUES ('d2', 'a', 'infra', 4000, 1, '[]')"},
             &raw);
      ASSERT_EQ(raw.Run("INSERT INTO retirements VALUES ('b', 'old', 5000)"), "");
    }
    const auto store = HistoryStore::Open(url);
    ASSERT_TRUE(store.ok()) << store.error().ToString();
    EXPECT_EQ(SchemaOf(url), newest) << version;
    const auto entries = (*store)->List(true).value();
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[0].last_verdict, "infra");
    EXPECT_EQ(FormatTime(*entries[0].verified), "1970-01-01T00:00:03.000Z");
    EXPECT_EQ(FormatTime(*entries[0].judged), "1970-01-01T00:00:04.000Z");
    EXPECT_FALSE(entries[1].judged.has_value());
    EXPECT_EQ(entries[1].retired, "old");
    EXPECT_EQ((*store)->NextToDrill(9)->size(), 1u);
  }
}

using MigrationsFileTest = HistoryFileTest;

TEST_F(MigrationsFileTest, LeaveASchemaAloneThatIsNotTheirs) {
  {
    RawDatabase raw(Path());
    const Migration first = Migrations(SqliteDialect())[0];
    for (const std::string& statement : first.statements) ASSERT_EQ(raw.Run(statement), "");
    ASSERT_EQ(raw.Run("UPDATE rharness_meta SET value = '1'"), "");
    // The third step would make a table of this name.
    ASSERT_EQ(raw.Run("CREATE TABLE standing (x TEXT)"), "");
  }
  EXPECT_EQ(TryOpen().error().code, ErrorCode::kIntegrity);
  RawDatabase raw(Path());
  EXPECT_EQ(raw.Rows("SELECT value FROM rharness_meta"), std::vector<std::string>{"1"});
  EXPECT_EQ(raw.Rows("SELECT COUNT(*) FROM sqlite_master WHERE name LIKE 'standing_%'"),
            std::vector<std::string>{"0"});
}

INSTANTIATE_TEST_SUITE_P(Both, MigrationsTest, BothDatabases(), DatabaseName);

}  // namespace
}  // namespace rharness
