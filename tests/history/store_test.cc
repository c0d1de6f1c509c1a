// What goes into a history comes out, in order, and stays as it is.
#include "harness/history/store.h"

#include <gtest/gtest.h>

#include <chrono>

#include "harness/base/digest.h"
#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

const char* const kWithinDay2 = "2026-01-02T00:00:00.123Z";
const char* const kDay9 = "2026-01-09T00:00:00.000Z";

using StoreTest = HistoryTest;

template <class T>
std::vector<std::string> IdsOf(const std::vector<T>& items) {
  std::vector<std::string> ids;
  for (const T& item : items) ids.push_back(item.run_id);
  return ids;
}
using Ids = std::vector<std::string>;

TEST_P(StoreTest, ReturnsAManifestAsItWasAddedAfterReopening) {
  const Manifest manifest = MakeManifest("run-1", kDay1);
  EXPECT_EQ(OpenStore()->Add(manifest, At(kDay9)).value(), AddOutcome::kAdded);
  const auto held = OpenStore()->Get("run-1");
  ASSERT_TRUE(held.ok()) << held.error().ToString();
  EXPECT_EQ(ToJson(*held).Dump(), ToJson(manifest).Dump());
}

TEST_P(StoreTest, TakesTheSameManifestTwiceAndRefusesOtherContent) {
  const auto store = OpenStore();
  Manifest manifest = MakeManifest("run-1", kDay1);
  ASSERT_TRUE(store->Add(manifest, At(kDay9)).ok());
  EXPECT_EQ(store->Add(manifest, At(kDay9)).value(), AddOutcome::kAlreadyThere);
  manifest.metrics[0].value = 0.3;
  const auto other = store->Add(manifest, At(kDay9));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(other.error().message.find("run 'run-1' is in the history with another manifest: "
                                       "$.metrics[0].value is 0.30000000000000004 there, 0.3 here"),
            std::string::npos)
      << other.error().message;
  EXPECT_EQ(store->Get("run-1")->metrics[0].value, 0.1 + 0.2);
}

TEST_P(StoreTest, KeepsWhatRebuildWasToldAndListsTheLastOfIt) {
  const auto store = OpenStore();
  EXPECT_EQ(store->AddRebuild({"nobody", At(kDay1), PartState::kHad, "[]"}).error().code,
            ErrorCode::kNotFound);
  ASSERT_TRUE(store->Add(MakeManifest("a", kDay1), At(kDay9)).ok());
  ASSERT_TRUE(store->Add(MakeManifest("b", kDay3), At(kDay9)).ok());
  EXPECT_EQ(store->Find("a")->rebuild, std::nullopt);
  EXPECT_FALSE(store->LastRebuild("a")->has_value());
  ASSERT_TRUE(store->AddRebuild({"a", At(kDay9), PartState::kHad, "[1]"}).ok());
  // Told later, whatever the clock shows.
  ASSERT_TRUE(store->AddRebuild({"a", At(kDay9), PartState::kGone, "[2]"}).ok());
  ASSERT_TRUE(store->AddRebuild({"a", At(kDay3), PartState::kUnknown, "[3]"}).ok());
  EXPECT_EQ(store->Find("a")->rebuild, PartState::kUnknown);
  EXPECT_EQ(store->List(true)->at(0).rebuild, PartState::kUnknown);
  EXPECT_EQ(store->List(true)->at(1).rebuild, std::nullopt);
  EXPECT_EQ((*store->LastRebuild("a"))->body, "[3]");
}

TEST_P(StoreTest, ListsByStartThenRunIdWithEveryField) {
  const auto store = OpenStore();
  EXPECT_TRUE(store->List(true)->empty());
  const Manifest b = MakeManifest("b", kWithinDay2);
  for (const Manifest& manifest : {MakeManifest("c", kDay3), b, MakeManifest("a", kWithinDay2)}) {
    ASSERT_TRUE(store->Add(manifest, At(kDay9)).ok());
  }
  const auto entries = store->List(false).value();
  EXPECT_EQ(IdsOf(entries), (Ids{"a", "b", "c"}));
  const HistoryEntry& entry = entries[1];
  EXPECT_EQ(entry.family, "digits-mlp/cpu");
  EXPECT_EQ(entry.configuration, ConfigurationKey(b));
  EXPECT_EQ(FormatTime(entry.started), kWithinDay2);
  EXPECT_EQ(entry.duration_seconds, 90.125);
  EXPECT_EQ(entry.declared, "bitwise");
  EXPECT_EQ(FormatTime(entry.added), kDay9);
  EXPECT_FALSE(entry.verified.has_value());
  EXPECT_EQ(entry.last_verdict, std::nullopt);
  EXPECT_FALSE(entry.retired.has_value());
  EXPECT_EQ(store->Find("b")->run_id, "b");
  EXPECT_EQ(store->Find("x").error().code, ErrorCode::kNotFound);
}

TEST_P(StoreTest, KeepsNumbersAndTextExactly) {
  const auto store = OpenStore();
  Manifest manifest = MakeManifest("x", "1970-01-01T00:00:00.001Z", "fam'ily \"ü\" \\ ; --");
  manifest.duration_seconds = 1.0 / 3.0;
  ASSERT_TRUE(store->Add(manifest, At("9999-12-31T23:59:59.999Z")).ok());
  const HistoryEntry entry = store->List(false)->front();
  EXPECT_EQ(entry.family, "fam'ily \"ü\" \\ ; --");
  EXPECT_EQ(entry.duration_seconds, 1.0 / 3.0);
  EXPECT_EQ(FormatTime(entry.started), "1970-01-01T00:00:00.001Z");
  EXPECT_EQ(FormatTime(entry.added), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(store->LoadFamily("fam'ily \"ü\" \\ ; --")->size(), 1u);
}

TEST_P(StoreTest, RefusesAManifestThatItCouldNotReadAgain) {
  const auto store = OpenStore();
  const auto added = store->Add(MakeManifest("../x", kDay1), At(kDay9));
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().code, ErrorCode::kInvalidInput);
  EXPECT_TRUE(store->List(true)->empty());
}

TEST_P(StoreTest, SaysWhichRunIsNotThere) {
  const auto store = OpenStore();
  for (const Error& error :
       {store->Get("nobody").error(), store->Verdicts("nobody").error(),
        store->Retire("nobody", "why", At(kDay9)).error(),
        store->AddDrill("d", At(kDay9), {{"d", "nobody", 1, "exited with 0", 1, ""}}, {}).error(),
        store->AddDrill("d", At(kDay9), {}, {MakeVerdict("d", "nobody", "identical", kDay9)})
            .error()}) {
    EXPECT_EQ(error.code, ErrorCode::kNotFound);
    EXPECT_NE(error.ToString().find("'nobody'"), std::string::npos) << error.ToString();
    EXPECT_NE(error.ToString().find(OnServer() ? "database history_" : "history.db"),
              std::string::npos)
        << error.ToString();
  }
}

TEST_P(StoreTest, RetiresOnceWithAReasonAndKeepsTheRun) {
  const auto store = OpenStore();
  for (const char* id : {"a", "b"})
    ASSERT_TRUE(store->Add(MakeManifest(id, kDay1), At(kWithinDay2)).ok());
  EXPECT_EQ(store->Retire("a", "", At(kDay3)).error().code, ErrorCode::kInvalidInput);
  ASSERT_TRUE(store->Retire("a", "data were deleted", At(kDay3)).ok());
  const Error again = store->Retire("a", "twice", At(kDay3)).error();
  EXPECT_EQ(again.code, ErrorCode::kInvalidInput);
  EXPECT_NE(again.message.find("data were deleted"), std::string::npos);
  EXPECT_EQ(IdsOf(*store->List(false)), Ids{"b"});
  EXPECT_EQ(IdsOf(*store->LoadFamily("digits-mlp/cpu")), Ids{"b"});
  EXPECT_EQ(IdsOf(*store->NextToDrill(9)), Ids{"b"});
  const auto all = store->List(true).value();
  EXPECT_EQ(IdsOf(all), (Ids{"a", "b"}));
  EXPECT_EQ(all[0].retired, "data were deleted");
  EXPECT_TRUE(store->Get("a").ok());
}

TEST_P(StoreTest, LoadsAFamilyByStart) {
  const auto store = OpenStore();
  ASSERT_TRUE(store->Add(MakeManifest("late", kDay3), At(kDay9)).ok());
  ASSERT_TRUE(store->Add(MakeManifest("early", kDay1), At(kDay9)).ok());
  ASSERT_TRUE(store->Add(MakeManifest("other", kWithinDay2, "bert"), At(kDay9)).ok());
  EXPECT_EQ(IdsOf(*store->LoadFamily("digits-mlp/cpu")), (Ids{"early", "late"}));
  EXPECT_TRUE(store->LoadFamily("gpt")->empty());
}

TEST_P(StoreTest, CountsIdenticalEquivalentAndDriftedAsVerified) {
  const auto store = OpenStore();
  const std::vector<std::pair<std::string, bool>> verdicts = {
      {"identical", true},       {"equivalent", true}, {"drifted", true}, {"inconclusive", false},
      {"not_comparable", false}, {"failed", false},    {"infra", false}};
  for (const auto& [verdict, conclusive] : verdicts) {
    ASSERT_TRUE(store->Add(MakeManifest(verdict, kDay1), At(kDay1)).ok());
    ASSERT_TRUE(store
                    ->AddDrill("drill-" + verdict, At(kWithinDay2), {},
                               {MakeVerdict("drill-" + verdict, verdict, verdict, kDay3)})
                    .ok());
    const HistoryEntry entry = store->Find(verdict).value();
    EXPECT_EQ(NameOf(entry.last_verdict), verdict);
    EXPECT_EQ(entry.verified.has_value(), conclusive) << verdict;
    EXPECT_EQ(entry.verified.value_or(At(kDay3)), At(kDay3));
  }
}

TEST_P(StoreTest, TakesLastVerdictAndVerifiedByTheOrderInWhichTheyWereEntered) {
  const auto store = OpenStore();
  ASSERT_TRUE(store->Add(MakeManifest("a", kDay1), At(kDay1)).ok());
  const auto drill = [&](const char* id, const char* verdict, const char* decided) {
    ASSERT_TRUE(store->AddDrill(id, At(kDay1), {}, {MakeVerdict(id, "a", verdict, decided)}).ok());
  };
  drill("d3", "drifted", kDay3);
  drill("d2", "identical", kWithinDay2);
  drill("d1", "failed", kDay1);
  const HistoryEntry entry = store->Find("a").value();
  EXPECT_EQ(entry.last_verdict, Verdict::kFailed);
  EXPECT_EQ(FormatTime(*entry.verified), kWithinDay2);
  const auto verdicts = store->Verdicts("a").value();
  ASSERT_EQ(verdicts.size(), 3u);
  EXPECT_EQ(verdicts[0].drill_id, "d3");
  EXPECT_EQ(verdicts[1].verdict, Verdict::kIdentical);
  EXPECT_EQ(FormatTime(verdicts[1].decided), kWithinDay2);
  EXPECT_EQ(verdicts[1].reruns, 2);
  EXPECT_EQ(verdicts[1].reasons, R"([{"message": "because"}])");
  EXPECT_EQ(verdicts[2].verdict, Verdict::kFailed);
}

TEST_P(StoreTest, WritesADrillOnceAndWholeOrNotAtAll) {
  const auto store = OpenStore();
  ASSERT_TRUE(store->Add(MakeManifest("a", kDay1), At(kDay1)).ok());
  const std::vector<RerunRecord> reruns = {{"d", "a", 1, "exited with 0", 12.5, "e1"},
                                           {"d", "a", 2, "timed out after 12 s", 12.25, "e2"}};
  const auto verdict = MakeVerdict("d", "a", "identical", kWithinDay2);
  auto stray = MakeVerdict("other", "a", "identical", kWithinDay2);
  EXPECT_EQ(store->AddDrill("d", At(kWithinDay2), reruns, {stray}).error().code,
            ErrorCode::kInvalidInput);
  EXPECT_TRUE(store->Verdicts("a")->empty());
  ASSERT_TRUE(store->AddDrill("d", At(kWithinDay2), reruns, {verdict}).ok());
  ASSERT_TRUE(store->AddDrill("d", At(kDay3), reruns, {verdict}).ok());
  EXPECT_EQ(store->Find("a")->last_verdict, Verdict::kIdentical);
  RawHistory raw(Url());
  EXPECT_EQ(raw.Rows("SELECT run_id, rerun, outcome, wall_seconds, evidence_sha256 FROM reruns "
                     "ORDER BY rerun"),
            (Ids{"a|1|exited with 0|12.5|e1", "a|2|timed out after 12 s|12.25|e2"}));
}

TEST_P(StoreTest, PutsTheLongestUnverifiedFirstToDrill) {
  const auto store = OpenStore();
  for (const char* id : {"never-2", "old", "new", "never-1", "tried"}) {
    ASSERT_TRUE(store->Add(MakeManifest(id, kDay1), At(kDay1)).ok());
  }
  ASSERT_TRUE(store
                  ->AddDrill("d", At(kWithinDay2), {},
                             {MakeVerdict("d", "new", "drifted", kDay3),
                              MakeVerdict("d", "old", "identical", kWithinDay2),
                              MakeVerdict("d", "tried", "inconclusive", kDay9)})
                  .ok());
  EXPECT_EQ(IdsOf(*store->NextToDrill(10)), (Ids{"never-1", "never-2", "tried", "old", "new"}));
  EXPECT_EQ(IdsOf(*store->NextToDrill(2)), (Ids{"never-1", "never-2"}));
  EXPECT_TRUE(store->NextToDrill(0)->empty());
}

TEST_P(StoreTest, SummarizesByFamilyAndLastVerdict) {
  const auto store = OpenStore();
  for (const char* id : {"a", "b", "c", "gone"}) {
    ASSERT_TRUE(store->Add(MakeManifest(id, kDay1, "bert"), At(kDay1)).ok());
  }
  ASSERT_TRUE(store->Add(MakeManifest("z", kDay1, "ale"), At(kDay1)).ok());
  ASSERT_TRUE(store->Retire("gone", "old", At(kWithinDay2)).ok());
  ASSERT_TRUE(
      store->AddDrill("d", At(kWithinDay2), {}, {MakeVerdict("d", "a", "drifted", kDay3)}).ok());
  std::vector<std::string> lines;
  const std::vector<HistoryCount> counts = store->Summarize().value();
  for (const HistoryCount& count : counts) {
    lines.push_back(count.family + "/" + NameOf(count.last_verdict) + "/" +
                    std::to_string(count.runs));
  }
  EXPECT_EQ(lines, (Ids{"ale//1", "bert//2", "bert/drifted/1"}));
}

using StoreFileTest = HistoryFileTest;

TEST_F(StoreFileTest, ReadsAnIndexForTheNextToDrillAndTheSummary) {
  OpenStore();
  RawDatabase raw(Path());
  const auto plan = [&raw](const std::string& query) {
    std::string text;
    for (const std::string& row : raw.Rows("EXPLAIN QUERY PLAN " + query)) text += row + "\n";
    return text;
  };
  const std::string next = plan(
      "SELECT r.run_id, t.reason FROM standing s JOIN runs r ON r.run_id = s.run_id "
      "LEFT JOIN retirements t ON t.run_id = s.run_id WHERE s.retired = 0 "
      "ORDER BY s.verified_ms NULLS FIRST, s.started_ms, s.run_id LIMIT 100");
  EXPECT_NE(next.find("standing_next"), std::string::npos) << next;
  EXPECT_EQ(next.find("TEMP B-TREE"), std::string::npos) << next;
  const std::string summary = plan(
      "SELECT family, last_verdict, COUNT(*) FROM standing WHERE retired = 0 "
      "GROUP BY family, last_verdict ORDER BY family, last_verdict");
  EXPECT_NE(summary.find("COVERING INDEX standing_summary"), std::string::npos) << summary;
  EXPECT_EQ(summary.find("TEMP B-TREE"), std::string::npos) << summary;
}

INSTANTIATE_TEST_SUITE_P(Both, StoreTest, BothDatabases(), DatabaseName);

}  // namespace
}  // namespace rharness
