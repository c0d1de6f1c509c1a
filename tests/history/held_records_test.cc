// A digest of every record: the same in a file and on a server, and another one where a column is.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "harness/base/digest.h"
#include "harness/history/held_record.h"
#include "tests/history/raw_history.h"
#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> NamesOf(const std::vector<HeldRecord>& records) {
  std::vector<std::string> names;
  for (const HeldRecord& one : records) names.push_back(one.kind + " " + one.name);
  return names;
}
// "verdict d1/a 5c6e...", so that a changed digest is another text.
std::vector<std::string> TextsOf(const std::vector<HeldRecord>& records) {
  std::vector<std::string> texts;
  for (const HeldRecord& one : records) {
    texts.push_back(one.kind + " " + one.name + " " + ToHex(one.sha256));
  }
  return texts;
}

class HeldRecordsTest : public HistoryTest {
 protected:
  void SetUp() override {
    HistoryTest::SetUp();
    if (IsSkipped()) return;
    Fill(OpenStore().get());
  }
  static void Fill(HistoryStore* store) {
    for (const char* id : {"a", "b", "c"}) {
      ASSERT_TRUE(store->Add(MakeManifest(id, kDay1, "mlp"), At(kDay1)).ok());
    }
    std::vector<RerunRecord> reruns;
    for (const char* id : {"a", "b", "c"}) {
      reruns.push_back({"d1", id, 1, "exited with 0", 90.125, "evidence of " + std::string(id)});
    }
    VerdictRecord measured = MakeVerdict("d1", "b", "drifted", kDay2);
    measured.measures = VerdictMeasures{.node = "n1", .margins = 0.5};
    ASSERT_TRUE(store
                    ->AddDrill(DrillRecord{"d1", At(kDay2), At(kDay2), 1}, reruns,
                               {MakeVerdict("d1", "a", "identical", kDay2), measured})
                    .ok());
    ASSERT_TRUE(store->AddRebuild({"b", At(kDay2), PartState::kHad, "[]"}).ok());
    ASSERT_TRUE(store->Retire("c", "its image is gone", At(kDay3)).ok());
    ASSERT_TRUE(store->AddAttestations({{"d1", "a", "key", "s", At(kDay3)}}).ok());
    ASSERT_TRUE(store->AddSigned({"s1", "k1", "p", "c", "Ada", At(kDay3), "{}"}).ok());
    ASSERT_TRUE(store
                    ->RetireSigned({"s1", "k2", "p", "c", "Bob", At(kDay3), "{}"},
                                   "its image is gone", {"s1", "Ada", At(kDay3), "Bob", At(kDay3)})
                    .ok());
    ASSERT_TRUE(store->AddSigned({"s2", "k1", "p", "b", "Ada", At(kDay3), "{}"}).ok());
    ASSERT_TRUE(store->AddWithdrawal({"s3", "k1", "p", "s2", "Ada", At(kDay3), "{}"}).ok());
    ASSERT_TRUE(store->BeginDeletion({"l", At(kDay3), "Ada", "Bob", "{}"}).ok());
    ASSERT_TRUE(store->AddDeleted({"l", 0, DeletionStep::kAbout, At(kDay3), 7}).ok());
  }
  std::vector<HeldRecord> All() {
    auto held = ReadHeldRecords(Url());
    EXPECT_TRUE(held.ok()) << held.error().ToString();
    if (!held.ok()) return {};
    derived_ = held->derived;
    return held->records;
  }
  std::vector<HeldRecord> Of(const std::string& run_id) {
    const auto held = ReadHeldRecordsOf(run_id, Url());
    EXPECT_TRUE(held.ok()) << held.error().ToString();
    return held.ok() ? *held : std::vector<HeldRecord>();
  }
  // The names whose digests are others after this statement.
  std::vector<std::string> ChangedBy(const std::string& statement) {
    const auto before = TextsOf(All());
    EXPECT_EQ(Raw().RunPastTriggers(statement), "");
    std::vector<std::string> changed;
    for (const HeldRecord& one : All()) {
      const std::string text = one.kind + " " + one.name + " " + ToHex(one.sha256);
      if (std::ranges::find(before, text) == before.end()) {
        changed.push_back(one.kind + " " + one.name);
      }
    }
    return changed;
  }

  // What is told of what is derived after this statement, past all triggers; `back` undoes it.
  std::string DoubtAfter(const std::string& statement, const std::string& back) {
    EXPECT_EQ(Raw().RunPastTriggers(statement), "");
    All();
    const std::string told = derived_ ? derived_->ToString() : "nothing";
    EXPECT_EQ(Raw().RunPastTriggers(back), "");
    All();
    EXPECT_FALSE(derived_.has_value()) << derived_->ToString();
    return told;
  }

  std::optional<Error> derived_;
};

TEST_P(HeldRecordsTest, NameEveryRecordOnce) {
  std::vector<std::string> names = NamesOf(All());
  EXPECT_THAT(names, ElementsAre("run a", "run b", "run c", "manifest a", "manifest b",
                                 "manifest c", "drill d1", "verdict d1/a", "verdict d1/b",
                                 "reruns d1/c", "retirement c", testing::StartsWith("rebuild b/"),
                                 "attestation d1/a/key", "signed_statement c/s1/k1",
                                 "signed_statement c/s1/k2", "signed_statement b/s2/k1",
                                 "signed_statement s2/s3/k1", "signed_retirement c",
                                 "withdrawal s2", "deletion l", "deleted_item l/0/about"));
  EXPECT_FALSE(derived_.has_value()) << derived_->ToString();
}

TEST_P(HeldRecordsTest, OfARunAreTheSameAsAmongAll) {
  const std::vector<std::string> all = TextsOf(All());
  EXPECT_THAT(
      NamesOf(Of("b")),
      ElementsAre("run b", "manifest b", "verdict d1/b", testing::StartsWith("rebuild b/"),
                  "signed_statement b/s2/k1", "signed_statement s2/s3/k1", "withdrawal s2"));
  EXPECT_THAT(NamesOf(Of("c")), ElementsAre("run c", "manifest c", "reruns d1/c", "retirement c",
                                            "signed_statement c/s1/k1", "signed_statement c/s1/k2",
                                            "signed_retirement c"));
  for (const char* run_id : {"a", "b", "c"}) {
    for (const std::string& text : TextsOf(Of(run_id))) EXPECT_THAT(all, Contains(text));
  }
  EXPECT_THAT(Of("z"), IsEmpty());
}

TEST_P(HeldRecordsTest, HaveOfAManifestTheDigestOfItsText) {
  const std::string body = Raw().Rows("SELECT body FROM manifests WHERE run_id = 'a'")[0];
  const HeldRecord held = Of("a")[1];
  ASSERT_EQ(held.kind, "manifest");
  EXPECT_EQ(ToHex(held.sha256), Sha256HexOf(body));
}

TEST_P(HeldRecordsTest, AreTheSameInAFileAndOnAServer) {
  if (!OnServer()) return;
  const std::string file = (folder_.path() / "file.db").string();
  Fill(OpenStoreAt(file).get());
  const auto in_file = ReadHeldRecords(file);
  ASSERT_TRUE(in_file.ok());
  EXPECT_EQ(TextsOf(in_file->records), TextsOf(All()));
}

TEST_P(HeldRecordsTest, AreOthersWhereAnyColumnIs) {
  EXPECT_THAT(ChangedBy("UPDATE manifests SET body = body || ' ' WHERE run_id = 'a'"),
              ElementsAre("manifest a"));
  EXPECT_THAT(ChangedBy("UPDATE runs SET duration_seconds = 1 WHERE run_id = 'b'"),
              ElementsAre("run b"));
  EXPECT_THAT(ChangedBy("UPDATE reruns SET wall_seconds = 1 WHERE run_id = 'a'"),
              ElementsAre("verdict d1/a"));
  EXPECT_THAT(ChangedBy("UPDATE reruns SET outcome = 'x' WHERE run_id = 'c'"),
              ElementsAre("reruns d1/c"));
  EXPECT_THAT(ChangedBy("UPDATE verdict_measures SET margins = 0.25"), ElementsAre("verdict d1/b"));
  EXPECT_THAT(ChangedBy("UPDATE verdicts SET decided_ms = decided_ms + 1 WHERE run_id = 'a'"),
              ElementsAre("verdict d1/a"));
  EXPECT_THAT(ChangedBy("UPDATE drills SET exit_code = NULL"), ElementsAre("drill d1"));
  EXPECT_THAT(ChangedBy("UPDATE retirements SET reason = ''"), ElementsAre("retirement c"));
  EXPECT_THAT(ChangedBy("UPDATE rebuild_answers SET state = 'gone'"),
              ElementsAre(testing::StartsWith("rebuild b/")));
  EXPECT_THAT(ChangedBy("UPDATE attestations SET attested_ms = 1"),
              ElementsAre("attestation d1/a/key"));
  EXPECT_THAT(ChangedBy("UPDATE signed_statements SET signed_by = 'Eve' WHERE key_id = 'k2'"),
              ElementsAre("signed_statement c/s1/k2"));
  EXPECT_THAT(ChangedBy("UPDATE signed_retirements SET approved_by = 'Eve'"),
              ElementsAre("signed_retirement c"));
  EXPECT_THAT(ChangedBy("UPDATE withdrawals SET withdrawal_sha256 = 'x'"),
              ElementsAre("withdrawal s2"));
  EXPECT_THAT(ChangedBy("UPDATE deletions SET body = ''"), ElementsAre("deletion l"));
  EXPECT_THAT(ChangedBy("UPDATE deleted_items SET bytes = 8"),
              ElementsAre("deleted_item l/0/about"));
}

TEST_P(HeldRecordsTest, TellWhereWhatIsDerivedSaysOtherwise) {
  EXPECT_EQ(
      Raw().RunPastTriggers("UPDATE standing SET last_verdict = 'identical' WHERE run_id = 'b'"),
      "");
  All();
  ASSERT_TRUE(derived_.has_value());
  EXPECT_EQ(derived_->code, ErrorCode::kIntegrity);
  EXPECT_THAT(derived_->where, testing::HasSubstr("b"));
}

TEST_P(HeldRecordsTest, TellWhereATimeIsThatOfNoVerdict) {
  for (const char* column : {"verified_ms", "judged_ms"}) {
    const std::string sum = fmt::format("UPDATE standing SET {0} = {0} + ", column);
    EXPECT_EQ(Raw().RunPastTriggers(sum + "1 WHERE run_id = 'b'"), "");
    All();
    ASSERT_TRUE(derived_.has_value()) << column;
    EXPECT_THAT(derived_->where, testing::HasSubstr("b"));
    EXPECT_EQ(Raw().RunPastTriggers(sum + "-1 WHERE run_id = 'b'"), "");
    All();
    EXPECT_FALSE(derived_.has_value()) << column;
  }
}

TEST_P(HeldRecordsTest, TellWhereWhenARunWasVerifiedOrJudgedIsGone) {
  for (const char* column : {"verified_ms", "judged_ms"}) {
    const std::string ms =
        Raw().Rows(fmt::format("SELECT {} FROM standing WHERE run_id = 'a'", column))[0];
    EXPECT_THAT(
        DoubtAfter(fmt::format("UPDATE standing SET {} = NULL WHERE run_id = 'a'", column),
                   fmt::format("UPDATE standing SET {} = {} WHERE run_id = 'a'", column, ms)),
        HasSubstr("a: the table 'standing' contradicts"))
        << column;
  }
}

TEST_P(HeldRecordsTest, TellWhereTheEnvironmentOfARunIsAnother) {
  const auto rerun_on = [&](const std::string& drill, const std::string& run,
                            const Surroundings& where) {
    const auto store = OpenStore();
    ASSERT_TRUE(store
                    ->AddDrill(DrillRecord{drill, At(kDay3), At(kDay3), 0},
                               {{drill, run, 1, "exited with 0", 1.0, "e", [=] { return where; }}},
                               {MakeVerdict(drill, run, "identical", kDay3)})
                    .ok());
  };
  const Surroundings here = {{"data", "1"}, {"environment.software", "one"}};
  rerun_on("d2", "a", here);
  rerun_on("d3", "b", {{"environment.software", "two"}});
  rerun_on("d4", "b", {{"data", "2"}, {"environment.software", "one"}});
  All();
  EXPECT_FALSE(derived_.has_value()) << derived_->ToString();
  const std::string own =
      Raw().Rows("SELECT environment_sha256 FROM standing WHERE run_id = 'a'")[0];
  const auto set = [](const std::string& value) {
    return "UPDATE standing SET environment_sha256 = " + value + " WHERE run_id = 'a'";
  };
  const std::string back = set("'" + own + "'");
  const auto doubt = HasSubstr("a: the table 'standing' contradicts");
  EXPECT_THAT(DoubtAfter(set("NULL"), back), doubt);
  EXPECT_THAT(DoubtAfter(set("'none'"), back), doubt);
  EXPECT_THAT(
      DoubtAfter(set("(SELECT environment_sha256 FROM reruns WHERE drill_id = 'd3')"), back),
      doubt);
  // Another text of the same environment, as a history of an older version may name one.
  EXPECT_EQ(DoubtAfter(set("(SELECT surroundings_sha256 FROM reruns WHERE drill_id = 'd4')"), back),
            "nothing");
}

TEST_P(HeldRecordsTest, TellRowsOfADrillThatIsNotThere) {
  EXPECT_THAT(DoubtAfter("INSERT INTO verdicts (drill_id, run_id, verdict, decided_ms, reruns, "
                         "reasons) VALUES ('none', 'c', 'identical', 1, 1, '[]')",
                         "DELETE FROM verdicts WHERE drill_id = 'none'"),
              HasSubstr("c: has a verdict of drill 'none', which the history does not have"));
  EXPECT_THAT(DoubtAfter("INSERT INTO reruns (drill_id, run_id, rerun, outcome, wall_seconds, "
                         "evidence_sha256) VALUES ('none', 'c', 1, '', 1, '')",
                         "DELETE FROM reruns WHERE drill_id = 'none'"),
              HasSubstr("c: has a rerun of drill 'none'"));
  EXPECT_THAT(DoubtAfter("INSERT INTO verdict_measures (drill_id, run_id, node) VALUES ('d1', 'c', "
                         "'n')",
                         "DELETE FROM verdict_measures WHERE run_id = 'c'"),
              HasSubstr("c: has a measure of drill 'd1'"));
}

INSTANTIATE_TEST_SUITE_P(Both, HeldRecordsTest, BothDatabases(), DatabaseName);

}  // namespace
}  // namespace rharness
