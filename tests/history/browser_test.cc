// Looking around in a history: a page at a time, read only.
#include "harness/history/browser.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kFourthDay[] = "2026-01-04T00:00:00.000Z";

std::vector<std::string> IdsOf(const Result<std::vector<RunRow>>& rows) {
  EXPECT_TRUE(rows.ok()) << rows.error().ToString();
  std::vector<std::string> ids;
  if (rows.ok()) {
    for (const RunRow& row : *rows) ids.push_back(row.run_id);
  }
  return ids;
}

class BrowserTest : public HistoryTest {
 protected:
  void SetUp() override {
    HistoryTest::SetUp();
    if (IsSkipped()) return;
    store_ = OpenStore();
    Add("a", kDay1, "cnn", std::string(40, 'a'), "");
    Add("b", kDay2, "mlp", std::string(40, 'b'), "ml/train");
    Add("c", kDay2, "mlp", "abc" + std::string(37, '0'), "ml/train");
    Add("d", kDay3, "mlp", std::string(40, 'b'), "ml/other");
    Drill("d1", kDay1, {{"b", "identical"}, {"c", "failed"}});
    Drill("d2", kDay2, {{"b", "drifted"}});
    auto browser = HistoryBrowser::Open(Url());
    ASSERT_TRUE(browser.ok()) << browser.error().ToString();
    browser_ = std::move(*browser);
  }
  void Add(const std::string& run_id, const char* started, const std::string& family,
           const std::string& commit, const std::string& repository) {
    Manifest manifest = MakeManifest(run_id, started, family);
    manifest.code.commit = commit;
    if (!repository.empty()) {
      manifest.image.kind = ImageKind::kOci;
      manifest.image.registry = "registry.example";
      manifest.image.repository = repository;
      manifest.image.tag = "1";
      manifest.image.digest = "sha256:" + std::string(64, '1');
    }
    ASSERT_TRUE(store_->Add(manifest, At(kDay1)).ok());
  }
  void Drill(const std::string& drill_id, const char* day,
             const std::vector<std::pair<std::string, std::string>>& verdicts) {
    std::vector<RerunRecord> reruns;
    std::vector<VerdictRecord> records;
    for (const auto& [run_id, verdict] : verdicts) {
      reruns.push_back({drill_id, run_id, 1, "exited with 0", 1.5, "e"});
      records.push_back(MakeVerdict(drill_id, run_id, verdict, day));
    }
    ASSERT_TRUE(store_->AddDrill(DrillRecord{drill_id, At(day), At(day), 0}, reruns, records).ok());
  }
  std::vector<std::string> Counted(const Result<std::vector<HistoryCount>>& counts) {
    EXPECT_TRUE(counts.ok()) << counts.error().ToString();
    std::vector<std::string> out;
    if (!counts.ok()) return out;
    for (const HistoryCount& one : *counts) {
      out.push_back(one.family + "|" + NameOf(one.last_verdict) + "|" + std::to_string(one.runs));
    }
    return out;
  }

  std::unique_ptr<HistoryStore> store_;
  std::unique_ptr<HistoryBrowser> browser_;
};

TEST_P(BrowserTest, CountsRunsByTheirLastVerdict) {
  ASSERT_TRUE(store_->Retire("a", "old", At(kDay3)).ok());
  EXPECT_THAT(Counted(browser_->CountAll()), ElementsAre("||1", "|drifted|1", "|failed|1"));
  EXPECT_THAT(Counted(browser_->CountFamily("mlp")),
              ElementsAre("mlp||1", "mlp|drifted|1", "mlp|failed|1"));
  EXPECT_THAT(Counted(browser_->CountFamily("cnn")), IsEmpty());
}

TEST_P(BrowserTest, CountsTheNextFamilies) {
  EXPECT_THAT(Counted(browser_->CountFamilies({}, 1)), ElementsAre("cnn||1"));
  EXPECT_THAT(Counted(browser_->CountFamilies({"cnn"}, 1)),
              ElementsAre("mlp||1", "mlp|drifted|1", "mlp|failed|1"));
  EXPECT_THAT(Counted(browser_->CountFamilies({"mlp"}, 1)), IsEmpty());
  EXPECT_THAT(Counted(browser_->CountFamilies({"mlp", Toward::kStart}, 1)), ElementsAre("cnn||1"));
  EXPECT_THAT(Counted(browser_->CountFamilies({"cnn", Toward::kStart}, 1)), IsEmpty());
  Add("nameless", kDay1, "", "", "");
  EXPECT_THAT(Counted(browser_->CountFamilies({}, 1)), ElementsAre("||1"));
}

TEST_P(BrowserTest, FindsRunsByWhatIsPartOfThem) {
  EXPECT_THAT(IdsOf(browser_->FindRuns(RunKey::kRunId, "b", {}, 9)), ElementsAre("b"));
  EXPECT_THAT(IdsOf(browser_->FindRuns(RunKey::kRunId, "%", {}, 9)), IsEmpty());
  EXPECT_THAT(IdsOf(browser_->FindRuns(RunKey::kCommit, "bbbb", {}, 9)), ElementsAre("b", "d"));
  EXPECT_THAT(IdsOf(browser_->FindRuns(RunKey::kCommit, "bbbb", {"b", std::string(40, 'b')}, 9)),
              ElementsAre("d"));
  EXPECT_THAT(IdsOf(browser_->FindRuns(RunKey::kCommit, "abc", {}, 9)), ElementsAre("c"));
  const std::string image = "registry.example/ml/train:1@sha256:" + std::string(64, '1');
  EXPECT_THAT(browser_->FindImages("train", {}, 9)->names, ElementsAre(image));
  EXPECT_THAT(IdsOf(browser_->FindRuns(RunKey::kImage, image, {}, 9)), ElementsAre("b", "c"));
  EXPECT_THAT(IdsOf(browser_->FindRuns(RunKey::kImage, image, {}, 1)), ElementsAre("b"));
  EXPECT_THAT(browser_->FindFamilies("", {}, 9)->names, ElementsAre("cnn", "mlp"));
  EXPECT_THAT(browser_->FindFamilies("n", {}, 1)->names, ElementsAre("cnn"));
}

TEST_P(BrowserTest, GoesBackInWhatItFound) {
  const FoundStart before_d{"d", std::string(40, 'b'), Toward::kStart};
  EXPECT_THAT(IdsOf(browser_->FindRuns(RunKey::kRunId, "", {"c", {}, Toward::kStart}, 9)),
              ElementsAre("a", "b"));
  EXPECT_THAT(IdsOf(browser_->FindRuns(RunKey::kRunId, "", {"c", {}, Toward::kStart}, 1)),
              ElementsAre("b"))
      << "the one beside it";
  EXPECT_THAT(IdsOf(browser_->FindRuns(RunKey::kCommit, "bbbb", before_d, 9)), ElementsAre("b"));
  EXPECT_THAT(IdsOf(browser_->FindRuns(RunKey::kCommit, "b", before_d, 9)), ElementsAre("b"))
      << "not those of commits that begin otherwise";
  const std::string image = "registry.example/ml/train:1@sha256:" + std::string(64, '1');
  EXPECT_THAT(IdsOf(browser_->FindRuns(RunKey::kImage, image, {"c", {}, Toward::kStart}, 9)),
              ElementsAre("b"));
  EXPECT_THAT(browser_->FindFamilies("", {"mlp", Toward::kStart}, 9)->names, ElementsAre("cnn"));
  EXPECT_THAT(browser_->FindFamilies("", {"cnn"}, 9)->names, ElementsAre("mlp"));
}

TEST_P(BrowserTest, FindsNamesAmongManyAsAmongFew) {
  std::vector<NewRun> runs;
  for (std::size_t i = 0; i < kFewNames; ++i) {
    runs.push_back(
        NewRunOf(MakeManifest(fmt::format("many-{:04}", i), kDay1, fmt::format("many/{:04}", i))));
  }
  ASSERT_TRUE(store_->AddAll(runs, At(kDay1)).ok());
  const auto found = browser_->FindFamilies("many/000", {}, 3);  // of 1,002
  ASSERT_TRUE(found.ok()) << found.error().ToString();
  EXPECT_TRUE(found->many);
  EXPECT_THAT(found->names, ElementsAre("many/0000", "many/0001", "many/0002"));
  EXPECT_THAT(browser_->FindFamilies("many/000", {"many/0002"}, 2)->names,
              ElementsAre("many/0003", "many/0004"));
  EXPECT_THAT(browser_->FindFamilies("many/000", {"many/0003", Toward::kStart}, 2)->names,
              ElementsAre("many/0001", "many/0002"));
  EXPECT_THAT(browser_->FindFamilies("%", {}, 2)->names, IsEmpty());
  const auto few_only = browser_->FindFamilies("many/000", {}, 3, Look::kFewOnly);
  EXPECT_TRUE(few_only->many);
  EXPECT_THAT(few_only->names, IsEmpty());
  // From here on they are few.
  EXPECT_FALSE(browser_->FindFamilies("mlp", {"many/0500"}, 3, Look::kFewOnly)->many);
}

TEST_P(BrowserTest, ListsTheRunsOfAFamilyPageByPage) {
  EXPECT_THAT(IdsOf(browser_->FamilyRuns("mlp", {}, 2)), ElementsAre("d", "c"));
  EXPECT_THAT(IdsOf(browser_->FamilyRuns("mlp", PageStart{At(kDay2), "c"}, 2)), ElementsAre("b"));
  EXPECT_THAT(IdsOf(browser_->FamilyRuns("mlp", PageStart{At(kDay2), "b"}, 2)), IsEmpty());
  EXPECT_THAT(IdsOf(browser_->FamilyRuns("mlp", PageStart{At(kDay2), "b", Toward::kStart}, 9)),
              ElementsAre("d", "c"));
  EXPECT_THAT(IdsOf(browser_->FamilyRuns("mlp", PageStart{At(kDay2), "b", Toward::kStart}, 1)),
              ElementsAre("c"));
  EXPECT_THAT(IdsOf(browser_->LastBadRuns({}, 9)), ElementsAre("b", "c"));
  EXPECT_THAT(IdsOf(browser_->LastBadRuns({}, 1)), ElementsAre("b"));
  const auto run = browser_->FindRun("b");
  ASSERT_TRUE(run.ok() && run->has_value());
  EXPECT_EQ((*run)->last_verdict, Verdict::kDrifted);
  EXPECT_EQ((*run)->judged, At(kDay2));
  EXPECT_FALSE((*browser_->FindRun("none")).has_value());
}

TEST_P(BrowserTest, ListsARunAsBrokenUntilAGoodVerdictComesWhateverOpenOnesLieBetween) {
  Drill("d3", kDay3, {{"b", "infra"}, {"c", "not_comparable"}, {"d", "inconclusive"}});
  const auto bad = [&](std::size_t limit) {
    std::vector<std::string> told;
    const auto open = browser_->OpenBadRuns(9);
    EXPECT_TRUE(open.ok()) << open.error().ToString();
    const auto rows = browser_->LastBadRuns(*open, limit);
    EXPECT_TRUE(rows.ok()) << rows.error().ToString();
    for (const RunRow& row : *rows) {
      told.push_back(row.run_id + " " + NameOf(row.last_verdict) + " " + FormatTime(*row.judged));
    }
    return told;
  };
  const std::string b_drifted = "b drifted " + FormatTime(At(kDay2));
  const std::string c_failed = "c failed " + FormatTime(At(kDay1));
  EXPECT_THAT(*browser_->OpenBadRuns(9), ElementsAre("b", "c")) << "d has only open verdicts";
  EXPECT_THAT(*browser_->OpenBadRuns(1), ElementsAre("b"));
  EXPECT_THAT(bad(9), ElementsAre(b_drifted, c_failed));
  EXPECT_THAT(bad(1), ElementsAre(b_drifted));
  EXPECT_THAT(IdsOf(browser_->LastBadRuns({}, 9)), IsEmpty());
  // What is asked for by name is looked at all the same.
  EXPECT_THAT(IdsOf(browser_->LastBadRuns({"d", "a", "none", "b"}, 9)), ElementsAre("b"));
  Drill("d4", kFourthDay, {{"d", "drifted"}});
  EXPECT_THAT(bad(9), ElementsAre("d drifted " + FormatTime(At(kFourthDay)), b_drifted, c_failed));
  Drill("d5", kFourthDay, {{"b", "equivalent"}});
  Drill("d6", kFourthDay, {{"b", "infra"}});
  EXPECT_THAT(IdsOf(browser_->LastBadRuns({"b", "c"}, 9)), ElementsAre("d", "c"));
  // What a resumed drill says later takes the place of what it said.
  Drill("d1", kFourthDay, {{"c", "identical"}});
  EXPECT_THAT(bad(9), ElementsAre("d drifted " + FormatTime(At(kFourthDay))));
  ASSERT_TRUE(store_->Retire("d", "old", At(kFourthDay)).ok());
  EXPECT_THAT(bad(9), IsEmpty());
}

TEST_P(BrowserTest, TellsTheLastConclusiveVerdictOfARun) {
  Drill("d3", kDay3, {{"b", "infra"}, {"d", "inconclusive"}});
  const auto last = browser_->LastConclusiveOf("b");
  ASSERT_TRUE(last.ok()) << last.error().ToString();
  ASSERT_TRUE(last->has_value());
  EXPECT_EQ((*last)->verdict, Verdict::kDrifted);
  EXPECT_EQ((*last)->drill_id, "d2");
  EXPECT_EQ((*last)->decided, At(kDay2));
  EXPECT_FALSE(browser_->LastConclusiveOf("d")->has_value());
  EXPECT_FALSE(browser_->LastConclusiveOf("a")->has_value());
}

TEST_P(BrowserTest, ListsVerdictsNewestFirstWithoutWhatWasSuperseded) {
  Drill("d2", kDay3, {{"b", "equivalent"}});  // d2.2, which takes the place of d2
  const auto verdicts = browser_->VerdictsOf("b", {}, 9, true);
  ASSERT_TRUE(verdicts.ok()) << verdicts.error().ToString();
  ASSERT_EQ(verdicts->size(), 2U);
  EXPECT_EQ(verdicts->front().drill_id, "d2.2");
  EXPECT_EQ(verdicts->front().verdict, Verdict::kEquivalent);
  EXPECT_EQ(verdicts->front().reasons, R"([{"message": "because"}])");
  EXPECT_EQ(verdicts->back().drill_id, "d1");
  const auto next = browser_->VerdictsOf("b", PageStart{At(kDay3), "d2.2"}, 9, false);
  ASSERT_EQ(next->size(), 1U);
  EXPECT_EQ(next->front().reasons, "");
  const auto back = browser_->VerdictsOf("b", PageStart{At(kDay1), "d1", Toward::kStart}, 9, false);
  ASSERT_EQ(back->size(), 1U);
  EXPECT_EQ(back->front().drill_id, "d2.2");
  const auto drills = browser_->LastDrills(9);
  ASSERT_EQ(drills->size(), 2U);
  EXPECT_EQ(drills->front().drill_id, "d2.2");
}

// A drill that is entered late is the last one all the same, as it is in what a run stands at.
TEST_P(BrowserTest, ListsWhatWasEnteredLastFirstWhateverTheClockShowed) {
  Drill("newer", kDay3, {{"a", "identical"}});
  Drill("late", kDay2, {{"a", "drifted"}});
  EXPECT_EQ((*browser_->FindRun("a"))->last_verdict, Verdict::kDrifted);
  const auto ids = [&](const std::optional<PageStart>& start, std::size_t limit) {
    std::vector<std::string> found;
    const auto verdicts = browser_->VerdictsOf("a", start, limit, false);
    EXPECT_TRUE(verdicts.ok()) << verdicts.error().ToString();
    for (const VerdictRecord& one : *verdicts) found.push_back(one.drill_id);
    return found;
  };
  EXPECT_THAT(ids({}, 2), testing::ElementsAre("late", "newer"));
  EXPECT_THAT(ids(PageStart{At(kDay2), "late"}, 1), testing::ElementsAre("newer"));
  EXPECT_THAT(ids(PageStart{At(kDay3), "newer", Toward::kStart}, 9), testing::ElementsAre("late"));
}

TEST_P(BrowserTest, TellsHowAVerdictCameAboutAndWhoSignedIt) {
  VerdictRecord verdict = MakeVerdict("d3", "a", "drifted", kDay3);
  verdict.measures = VerdictMeasures{.node = "gpu-17",
                                     .weights_equal = false,
                                     .margins = 2.5,
                                     .warnings = 3,
                                     .data_had = std::nullopt,
                                     .not_recorded = 0};
  const Surroundings where = {{"seeds", "[]"}};
  RerunRecord first{"d3", "a", 1, "exited with 1", 1.5, "e1"};
  RerunRecord second{"d3", "a", 2, "exited with 0", 2.5, "e2"};
  second.surroundings = [&] { return where; };
  ASSERT_TRUE(
      store_->AddDrill(DrillRecord{"d3", At(kDay3), At(kDay3), 1}, {first, second}, {verdict})
          .ok());
  ASSERT_TRUE(store_
                  ->AddAttestations({{"d3", "a", "key-2", "s1", At(kDay3)},
                                     {"d3", "a", "key-1", "s1", At(kDay2)}})
                  .ok());
  const auto details = browser_->DetailsOf("a", "d3", 9);
  ASSERT_TRUE(details.ok()) << details.error().ToString();
  ASSERT_EQ(details->reruns.size(), 2U);
  EXPECT_EQ(details->reruns[0].outcome, "exited with 1");
  EXPECT_EQ(details->reruns[1].evidence_sha256, "e2");
  ASSERT_TRUE(details->measures.has_value());
  EXPECT_EQ(*details->measures, *verdict.measures);
  EXPECT_EQ(*store_->GetSurroundings(details->surroundings_sha256), where)
      << "of the first rerun that has some";
  EXPECT_EQ(*browser_->SurroundingsOf("a", "d3"), details->surroundings_sha256);
  ASSERT_EQ(details->attestations.size(), 2U);
  EXPECT_EQ(details->attestations[0].keyid, "key-1") << "by time";
  EXPECT_EQ(details->attestations[1].attested, At(kDay3));
  EXPECT_EQ(browser_->DetailsOf("a", "d3", 1)->attestations.size(), 1U);
  const auto other = browser_->DetailsOf("b", "d1", 9);
  EXPECT_FALSE(other->measures.has_value());
  EXPECT_TRUE(other->attestations.empty());
  EXPECT_EQ(other->surroundings_sha256, "");
}

TEST_P(BrowserTest, WritesNothing) {
  EXPECT_FALSE(browser_->store().Retire("a", "because", At(kDay3)).ok());
  EXPECT_FALSE(browser_->store().Add(MakeManifest("new", kDay1), At(kDay1)).ok());
  EXPECT_FALSE(store_->Find("new").ok());
  EXPECT_FALSE(store_->Find("a")->retired.has_value());
}

TEST_P(BrowserTest, SeesWhatIsWrittenMeanwhile) {
  Add("e", kDay3, "cnn", "", "");
  EXPECT_THAT(IdsOf(browser_->FamilyRuns("cnn", {}, 9)), ElementsAre("e", "a"));
  const auto before = browser_->LastSequence();
  Drill("d3", kDay3, {{"e", "identical"}});
  EXPECT_EQ(*browser_->LastSequence(), *before + 1);
}

INSTANTIATE_TEST_SUITE_P(Histories, BrowserTest, BothDatabases(), DatabaseName);

TEST(BrowserFiles, AreNeverMade) {
  const ScopedTempDir folder = std::move(ScopedTempDir::Make()).value();
  const auto none = HistoryBrowser::Open((folder.path() / "none.db").string());
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "none.db"));
  ASSERT_TRUE(WriteFileAtomic(folder.path() / "empty.db", "").ok());
  EXPECT_FALSE(HistoryBrowser::Open((folder.path() / "empty.db").string()).ok());
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "empty.db"), 0U);
}

TEST(BrowserFiles, OfAnOlderSchemaAreNamedNotMigrated) {
  const ScopedTempDir folder = std::move(ScopedTempDir::Make()).value();
  const std::string path = (folder.path() / "old.db").string();
  OpenStoreAt(path).reset();
  EXPECT_EQ(
      RawDatabase(path).Run("DROP INDEX verdicts_unknown; DROP INDEX family_verdicts_unknown; "
                            "DROP INDEX property_verdicts_unknown; DROP INDEX "
                            "rebuild_answers_unknown; DROP INDEX deleted_items_unknown; "
                            "UPDATE rharness_meta SET value = value - 1"),
      "");
  const auto old = HistoryBrowser::Open(path);
  ASSERT_FALSE(old.ok());
  EXPECT_THAT(old.error().ToString(), testing::HasSubstr("rharness history list"));
  EXPECT_TRUE(HistoryStore::Open(path).ok()) << "which migrates it";
  EXPECT_TRUE(HistoryBrowser::Open(path).ok());
}

}  // namespace
}  // namespace rharness
