// Histories of strangers: SQLite files that run something of their own, or never answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "harness/history/sqlite_database.h"
#include "harness/history/store.h"
#include "tests/attack/attack_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class StrangersHistory : public AttackWorld {
 protected:
  StrangersHistory() { EXPECT_TRUE(HistoryStore::Open(path()).ok()); }
  std::string path() const { return (folder() / "runs.db").string(); }
  void Plant(const char* sql) const {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &connection), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(connection, sql, nullptr, nullptr, &message), SQLITE_OK) << message;
    sqlite3_close(connection);
  }
  Error Refusal() const {
    const auto store = HistoryStore::Open(path());
    EXPECT_FALSE(store.ok());
    return store.ok() ? Error{} : store.error();
  }
};

TEST_F(StrangersHistory, WithAnEndlessViewForATableIsRefusedAtOnce) {
  Plant(
      "DROP TABLE standing; CREATE VIEW standing AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL "
      "SELECT x + 1 FROM n) SELECT x AS run_id, '' AS family, 0 AS started_ms, '' AS last_verdict, "
      "0 AS verified_ms, 0 AS retired, 0 AS judged_ms FROM n");
  const Error error = Refusal();
  EXPECT_EQ(error.code, ErrorCode::kIntegrity) << error.ToString();
  EXPECT_THAT(error.message, HasSubstr("has 'view standing"));
}

TEST_F(StrangersHistory, WithATriggerOfItsOwnIsRefused) {
  Plant(
      "CREATE TRIGGER planted AFTER INSERT ON verdicts BEGIN UPDATE standing SET last_verdict = "
      "'identical'; END");
  EXPECT_THAT(Refusal().message, HasSubstr("has 'trigger planted on verdicts'"));
}

TEST_F(StrangersHistory, WithoutOneOfItsTriggersIsRefused) {
  Plant("DROP TRIGGER standing_of_verdict");
  EXPECT_THAT(Refusal().message, HasSubstr("lacks 'trigger standing_of_verdict"));
}

TEST_F(StrangersHistory, ThatWasAnalysedIsStillOne) {
  Plant("ANALYZE");
  EXPECT_TRUE(HistoryStore::Open(path()).ok());
}

TEST_F(StrangersHistory, ThatNeverAnswersIsGivenUp) {
  auto database =
      SqliteDatabase::Open(path(), std::chrono::seconds(1), std::chrono::milliseconds(50));
  ASSERT_TRUE(database.ok()) << database.error().ToString();
  const Status status = (*database)->Guard([&]() -> Status {
    (*database)->sql() << "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
                          "SELECT count(*) FROM n";
    return {};
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kTimeout) << status.error().ToString();
}

}  // namespace
}  // namespace rharness
