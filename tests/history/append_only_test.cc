// The database itself refuses change, and what is changed by force is noticed.
#include <gtest/gtest.h>

#include "harness/base/digest.h"
#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

class AppendOnlyTest : public HistoryTest {
 protected:
  void SetUp() override {
    HistoryTest::SetUp();
    if (IsSkipped()) return;
    const auto store = OpenStore();
    ASSERT_TRUE(store->Add(MakeManifest("a", kDay1), At(kDay1)).ok());
    ASSERT_TRUE(store->Add(MakeManifest("b", kDay1), At(kDay1)).ok());
    ASSERT_TRUE(store
                    ->AddDrill({"d", At(kDay1), {}, {}},
                               {{{"d", "a", 1, "exited with 0", 1.0, "e",
                                  [] {
                                    return Surroundings{{"data", "[]"}};
                                  }}},
                                {MakeVerdict("d", "a", "identical", kDay1)},
                                {MakeFamilyRecord("d", "c1", "identical", kDay1)}})
                    .ok());
    ASSERT_TRUE(store->Retire("b", "why", At(kDay1)).ok());
    ASSERT_TRUE(store->AddReplicates({{"c", "s", "a", 1, At(kDay1), "e", "{}"}}).ok());
    ASSERT_TRUE(store->AddSigned({"s", "k", "p", "a", "Ada", At(kDay1), "{}"}).ok());
    ASSERT_TRUE(store->AddWithdrawal({"w", "k", "p", "s", "Ada", At(kDay1), "{}"}).ok());
    ASSERT_TRUE(store
                    ->RetireSigned({"t", "k", "p", "b", "Bob", At(kDay1), "{}"}, "why",
                                   {"t", "Ada", At(kDay1), "Bob", At(kDay1)})
                    .ok());
    ASSERT_TRUE(store->BeginDeletion({"l", At(kDay1), "Ada", "Bob", "{}"}).ok());
    ASSERT_TRUE(store->AddDeleted({"l", 0, DeletionStep::kAbout, At(kDay1), 7}).ok());
    ASSERT_TRUE(
        store->AddPropertyVerdicts({{"d", "a", "repeated", PropertyState::kHeld, At(kDay1), "r"}})
            .ok());
    ASSERT_TRUE(store->AddAttestations({{"d", "a", "key", "s", At(kDay1)}}).ok());
  }
};

TEST_P(AppendOnlyTest, RefusesUpdateDeleteAndReplaceOnEveryTable) {
  RawHistory raw(Url());
  struct Table {
    std::string name, key, change;
  };
  const std::vector<Table> tables = {
      {"runs", "run_id", "family = 'x'"},
      {"manifests", "run_id", "body = 'x'"},
      {"drills", "drill_id", "started_ms = 1"},
      {"reruns", "drill_id, run_id, rerun", "outcome = 'x'"},
      {"verdicts", "drill_id, run_id", "verdict = 'x'"},
      {"retirements", "run_id", "reason = 'x'"},
      {"surroundings", "sha256", "body = 'x'"},
      {"replicates", "configuration, stack, run_id, replicate", "body = 'x'"},
      {"family_verdicts", "drill_id, configuration", "verdict = 'x'"},
      {"property_verdicts", "drill_id, run_id, property", "state = 'x'"},
      {"attestations", "drill_id, run_id, keyid", "statement_sha256 = 'x'"},
      {"signed_statements", "statement_sha256, key_id", "signed_by = 'x'"},
      {"withdrawals", "statement_sha256", "withdrawal_sha256 = 'x'"},
      {"signed_retirements", "run_id", "approved_by = 'x'"},
      {"deletions", "list_sha256", "body = 'x'"},
      {"deleted_items", "list_sha256, item, step", "bytes = 1"}};
  for (const auto& [table, key, change] : tables) {
    const auto before = raw.Rows("SELECT * FROM " + table);
    ASSERT_FALSE(before.empty()) << table;
    for (const std::string& statement :
         {"UPDATE " + table + " SET " + change, "DELETE FROM " + table,
          OnServer() ? "TRUNCATE " + table + " CASCADE"
                     : "INSERT OR REPLACE INTO " + table + " SELECT * FROM " + table,
          "INSERT INTO " + table + " SELECT * FROM " + table + " WHERE true ON CONFLICT (" + key +
              ") DO UPDATE SET " + change}) {
      EXPECT_NE(raw.Run(statement).find("append-only"), std::string::npos) << statement;
    }
    EXPECT_EQ(raw.Rows("SELECT * FROM " + table), before) << table;
  }
  EXPECT_NE(raw.Run("DELETE FROM standing").find("append-only"), std::string::npos);
}

TEST_P(AppendOnlyTest, LetsTheDerivedTableSayNothingThatTheRecordsDoNot) {
  RawHistory raw(Url());
  const auto before = raw.Rows("SELECT * FROM standing");
  for (const char* change : {"retired = 1", "retired = 0", "family = 'x'", "run_id = 'c'",
                             "started_ms = 1", "last_verdict = 'drifted'", "last_verdict = ''"}) {
    EXPECT_NE(raw.Run("UPDATE standing SET " + std::string(change)).find("append-only"),
              std::string::npos)
        << change;
  }
  EXPECT_EQ(raw.Rows("SELECT * FROM standing"), before);
}

TEST_P(AppendOnlyTest, ListsARunThatWasRetiredByForce) {
  RawHistory raw(Url());
  ASSERT_EQ(raw.RunPastTriggers("UPDATE standing SET retired = 1"), "");
  const auto store = OpenStore();
  ASSERT_EQ(store->List(false)->size(), 1u);
  EXPECT_EQ(store->List(false)->front().run_id, "a");
  EXPECT_EQ(store->LoadFamily("digits-mlp/cpu")->size(), 1u);
}

TEST_P(AppendOnlyTest, NoticesARunThatWasMovedToAnotherFamily) {
  RawHistory raw(Url());
  ASSERT_EQ(raw.RunPastTriggers("UPDATE runs SET family = 'other' WHERE run_id = 'a'"), "");
  EXPECT_EQ(OpenStore()->Get("a").error().code, ErrorCode::kIntegrity);
}

TEST_P(AppendOnlyTest, LetsNoTableOfRecordsGoWithoutTheTriggers) {
  RawHistory raw(Url());
  const std::string query =
      OnServer() ? "SELECT t.relname FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace "
                   "WHERE n.nspname = 'rharness' AND t.relkind = 'r' AND (SELECT COUNT(*) FROM "
                   "pg_trigger g WHERE g.tgrelid = t.oid AND g.tgname LIKE '%_no_%') < 3 ORDER BY 1"
                 : "SELECT t.name FROM sqlite_master t WHERE t.type = 'table' AND "
                   "(SELECT COUNT(*) FROM sqlite_master g WHERE g.type = 'trigger' AND "
                   "g.tbl_name = t.name AND g.name LIKE '%_no_%') < 3 ORDER BY t.name";
  std::vector<std::string> others = {"claims", "leases", "rharness_meta"};
  if (!OnServer()) others.push_back("standing");
  EXPECT_EQ(raw.Rows(query), others);
}

TEST_P(AppendOnlyTest, NoticesAChangedManifest) {
  RawHistory raw(Url());
  ASSERT_EQ(raw.RunPastTriggers(
                "UPDATE manifests SET body = replace(body, '0.005', '0.5') WHERE run_id = 'a'"),
            "");
  const auto store = OpenStore();
  const auto held = store->Get("a");
  ASSERT_FALSE(held.ok());
  EXPECT_EQ(held.error().code, ErrorCode::kIntegrity);
  EXPECT_NE(held.error().ToString().find("run a"), std::string::npos) << held.error().ToString();
  EXPECT_EQ(store->LoadFamily("digits-mlp/cpu").error().code, ErrorCode::kIntegrity);
  EXPECT_EQ(store->Add(MakeManifest("a", kDay1), At(kDay1)).error().code, ErrorCode::kIntegrity);
}

TEST_P(AppendOnlyTest, NoticesAManifestUnderAnotherRunsName) {
  RawHistory raw(Url());
  ASSERT_EQ(raw.RunPastTriggers(
                "UPDATE manifests SET body = (SELECT body FROM manifests WHERE run_id = 'b');"
                "UPDATE runs SET sha256 = (SELECT sha256 FROM runs WHERE run_id = 'b')"),
            "");
  EXPECT_EQ(OpenStore()->Get("a").error().code, ErrorCode::kIntegrity);
}

TEST_P(AppendOnlyTest, NoticesAMissingManifest) {
  RawHistory raw(Url());
  ASSERT_EQ(raw.RunPastTriggers("DELETE FROM manifests WHERE run_id = 'a'"), "");
  EXPECT_EQ(OpenStore()->Get("a").error().code, ErrorCode::kIntegrity);
}

TEST_P(AppendOnlyTest, StoresTheSha256OfTheBody) {
  RawHistory raw(Url());
  const auto rows = raw.Rows("SELECT r.sha256 FROM runs r WHERE r.run_id = 'a'");
  const auto bodies = raw.Rows("SELECT body FROM manifests WHERE run_id = 'a'");
  EXPECT_EQ(rows.at(0), Sha256HexOf(bodies.at(0)));
  EXPECT_EQ(bodies.at(0).find("{\"schema\":\"rharness.manifest/v1\""), 0u) << bodies.at(0);
}

INSTANTIATE_TEST_SUITE_P(Both, AppendOnlyTest, BothDatabases(), DatabaseName);

}  // namespace
}  // namespace rharness
