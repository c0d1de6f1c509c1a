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
    EXPECT_EQ(entries[0].last_verdict, Verdict::kInfra);
    EXPECT_EQ(FormatTime(*entries[0].verified), "1970-01-01T00:00:03.000Z");
    EXPECT_EQ(FormatTime(*entries[0].judged), "1970-01-01T00:00:04.000Z");
    EXPECT_FALSE(entries[1].judged.has_value());
    EXPECT_EQ(entries[1].retired, "old");
    EXPECT_EQ((*store)->NextToDrill(9)->size(), 1u);
  }
}

// Reruns of older versions named an environment among what was their run's own.
TEST_P(MigrationsTest, FindTheEnvironmentsOfOlderVerdictsAndEachOnce) {
  constexpr int kBefore = 8;
  const std::string url = Another("v8");
  {
    RawHistory raw(url);
    if (OnServer()) RunAll({"CREATE SCHEMA rharness"}, &raw);
    for (const Migration& step : Migrations(Words())) {
      if (step.version <= kBefore) RunAll(step.statements, &raw);
    }
    RunAll({"UPDATE rharness_meta SET value = '8'",
            "INSERT INTO drills (drill_id, started_ms, sequence) VALUES ('d', 1, 1)"},
           &raw);
    const auto add = [&](const std::string& id, const std::string& body) {
      RunAll({"INSERT INTO runs VALUES ('" + id + "', 'f', 'c', 'bitwise', 1000, 2.5, 2000, 's')",
              "INSERT INTO surroundings VALUES ('of " + id + "', '" + body + "')",
              "INSERT INTO reruns VALUES ('d', '" + id + "', 1, 'ok', 1.0, 'e', 'of " + id + "')",
              "INSERT INTO verdicts VALUES ('d', '" + id + "', 'identical', 3000, 1, '[]')"},
             &raw);
    };
    const std::string hash(64, '7');
    const std::string other(64, '8');
    const auto text = [](const std::string& hardware, const std::string& seeds) {
      return R"({"environment.hardware":")" + hardware + R"(","seeds":")" + seeds + R"("})";
    };
    add("a", text(hash, std::string(64, '1')));
    add("b", text(hash, std::string(64, '2')));
    add("c", text(other, std::string(64, '1')));
    add("d", "no JSON");
  }
  const auto store = HistoryStore::Open(url);
  ASSERT_TRUE(store.ok()) << store.error().ToString();
  const auto entries = (*store)->List(true).value();
  ASSERT_EQ(entries.size(), 4u);
  EXPECT_EQ(entries[0].environment_sha256, "of a");
  EXPECT_EQ(entries[1].environment_sha256, "of a");
  EXPECT_EQ(entries[2].environment_sha256, "of c");
  EXPECT_EQ((*store)->EnvironmentsOf({entries[0], entries[2]})->digests.size(), 2u);
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
