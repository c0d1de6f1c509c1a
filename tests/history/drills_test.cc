// What the history keeps of drills: where reruns ran, the last success, one family over many
// nights.
#include <gtest/gtest.h>

#include "harness/base/digest.h"
#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

const Surroundings kHere = {{"data", "[1]"}, {"environment.variables", "{\"A\":\"1\"}"}};
const Surroundings kThere = {{"data", "[1]"}, {"environment.variables", "{\"A\":\"2\"}"}};

class DrillsTest : public HistoryTest {
 protected:
  void SetUp() override {
    HistoryTest::SetUp();
    if (IsSkipped()) return;
    store_ = OpenStore();
    ASSERT_TRUE(store_->Add(MakeManifest("a", kDay1), At(kDay1)).ok());
    ASSERT_TRUE(store_->Add(MakeManifest("b", kDay2), At(kDay1)).ok());
    ASSERT_TRUE(store_->Add(MakeManifest("other", kDay1, "other"), At(kDay1)).ok());
  }
  void AddDrill(const std::string& drill_id, const std::string& day,
                const std::vector<std::pair<std::string, std::string>>& verdicts,
                std::optional<int> exit_code = {}, const Surroundings& surroundings = {}) {
    std::vector<RerunRecord> reruns;
    std::vector<VerdictRecord> records;
    for (const auto& [run_id, verdict] : verdicts) {
      reruns.push_back(
          {drill_id, run_id, 1, "exited with 0", 1.0, "e", [=] { return surroundings; }});
      records.push_back(MakeVerdict(drill_id, run_id, verdict, day));
    }
    const DrillRecord drill{drill_id, At(day), exit_code ? std::optional(At(day)) : std::nullopt,
                            exit_code};
    ASSERT_TRUE(store_->AddDrill(drill, reruns, records).ok());
  }

  std::unique_ptr<HistoryStore> store_;
};

TEST_P(DrillsTest, GivesBackOneDrillAsItWasEnteredLast) {
  EXPECT_FALSE(store_->FindDrill("d1").value());
  AddDrill("d1", kDay1, {{"b", "identical"}, {"a", "drifted"}}, 1, kHere);
  AddDrill("d2", kDay2, {{"a", "identical"}}, 0);
  const auto first = store_->FindDrill("d1").value();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->drill.drill_id, "d1");
  EXPECT_EQ(first->drill.started, At(kDay1));
  EXPECT_EQ(first->drill.exit_code, 1);
  ASSERT_EQ(first->verdicts.size(), 2U);
  EXPECT_EQ(first->verdicts[0].run_id, "a");
  EXPECT_EQ(first->verdicts[0].verdict, Verdict::kDrifted);
  EXPECT_EQ(first->verdicts[0].decided, At(kDay1));
  ASSERT_EQ(first->reruns.size(), 2U);
  EXPECT_EQ(first->reruns[1].run_id, "b");
  EXPECT_EQ(first->reruns[1].rerun, 1);
  EXPECT_EQ(first->reruns[1].outcome, "exited with 0");
  EXPECT_EQ(first->reruns[1].evidence_sha256, "e");
  EXPECT_TRUE(first->superseded.empty());
  // A drill that was resumed, and found otherwise.
  AddDrill("d1", kDay3, {{"a", "identical"}}, 0);
  const auto later = store_->FindDrill("d1").value();
  ASSERT_TRUE(later);
  EXPECT_EQ(later->drill.drill_id, "d1.2");
  EXPECT_EQ(later->verdicts.size(), 1U);
  ASSERT_EQ(later->superseded.size(), 2U);
  EXPECT_EQ(later->superseded[0].drill_id, "d1");
  EXPECT_EQ(later->superseded[0].verdict, Verdict::kDrifted);
}

std::string LastSuccessOf(HistoryStore& store) {
  const auto last = store.LastSuccess();
  EXPECT_TRUE(last.ok());
  return *last ? FormatTime(**last) : "never";
}

TEST_P(DrillsTest, KeepsWhereARerunRanOnceForAllThatRanThere) {
  AddDrill("d1", kDay1, {{"a", "identical"}, {"b", "identical"}}, 0, kHere);
  const auto rows = [&] { return Raw().Rows("SELECT COUNT(*) FROM surroundings").front(); };
  EXPECT_EQ(rows(), "3");  // two parts, and the text that names them
  for (int i = 0; i < 20; ++i) {
    AddDrill("again-" + std::to_string(i), kDay2, {{"a", "identical"}, {"b", "drifted"}}, 1, kHere);
  }
  EXPECT_EQ(rows(), "3");
  AddDrill("d2", kDay3, {{"a", "drifted"}}, 1, kThere);
  EXPECT_EQ(rows(), "5");
  const auto verdicts = store_->Verdicts("a").value();
  EXPECT_EQ(store_->GetSurroundings(verdicts.front().surroundings_sha256).value(), kHere);
  EXPECT_EQ(store_->GetSurroundings(verdicts.back().surroundings_sha256).value(), kThere);
}

TEST_P(DrillsTest, KnowsNothingOfWhereRerunsOfOlderVersionsRan) {
  AddDrill("d1", kDay1, {{"a", "identical"}});
  EXPECT_EQ(store_->Verdicts("a")->front().surroundings_sha256, "");
  EXPECT_EQ(store_->GetSurroundings(std::string(64, '0')).error().code, ErrorCode::kNotFound);
}

TEST_P(DrillsTest, NoticesChangedSurroundings) {
  AddDrill("d1", kDay1, {{"a", "identical"}}, 0, kHere);
  const std::string sha256 = store_->Verdicts("a")->front().surroundings_sha256;
  {
    RawHistory raw(Url());
    ASSERT_EQ(raw.RunPastTriggers("UPDATE surroundings SET body = '[2]' WHERE body = '[1]'"), "");
  }
  EXPECT_EQ(store_->GetSurroundings(sha256).error().code, ErrorCode::kIntegrity);
}

TEST_P(DrillsTest, TellsTheLastDrillThatEndedWell) {
  EXPECT_EQ(LastSuccessOf(*store_), "never");
  AddDrill("d1", kDay1, {{"a", "identical"}, {"b", "equivalent"}}, 0);
  AddDrill("d2", kDay2, {{"a", "drifted"}, {"b", "identical"}}, 1);
  // All that it reached reproduced, but it left runs out.
  AddDrill("d3", kDay3, {{"a", "identical"}}, 3);
  AddDrill("d4", kDay4, {}, 3);
  EXPECT_EQ(LastSuccessOf(*store_), kDay1);
}

TEST_P(DrillsTest, TellsItOfDrillsOfOlderVersionsByTheirVerdicts) {
  AddDrill("d1", kDay1, {{"a", "identical"}, {"b", "identical"}});
  AddDrill("d2", kDay2, {{"a", "identical"}, {"b", "equivalent"}});
  AddDrill("d3", kDay3, {{"a", "identical"}, {"b", "inconclusive"}});
  AddDrill("d4", kDay4, {});
  EXPECT_EQ(LastSuccessOf(*store_), kDay2);
}

TEST_P(DrillsTest, FindsTheFirstBadVerdictAfterATime) {
  AddDrill("d1", kDay1, {{"a", "drifted"}});
  AddDrill("d2", kDay2, {{"a", "identical"}});
  for (const char* open : {"infra", "not_comparable", "inconclusive"}) {
    AddDrill(std::string("d3-") + open, kDay3, {{"a", open}});
  }
  AddDrill("d4", kDay4, {{"a", "failed"}});
  const auto verdicts = store_->Verdicts("a").value();
  ASSERT_EQ(verdicts.size(), 6u);
  EXPECT_EQ(store_->FirstBadAfter("a", 0)->value().drill_id, "d1");
  EXPECT_EQ(store_->FirstBadAfter("a", verdicts[0].sequence)->value().drill_id, "d4");
  EXPECT_FALSE(store_->FirstBadAfter("a", verdicts[5].sequence)->has_value());
  EXPECT_FALSE(store_->FirstBadAfter("b", 0)->has_value());
}

TEST_P(DrillsTest, GoesByTheOrderOfItsDrillsWhereTheClockSteppedBack) {
  AddDrill("d1", kDay4, {{"a", "identical"}}, 0);
  AddDrill("d2", kDay1, {{"a", "drifted"}}, 1);
  AddDrill("d3", kDay2, {{"a", "failed"}}, 4);
  const HistoryEntry entry = store_->Find("a").value();
  EXPECT_EQ(entry.last_verdict, Verdict::kFailed);
  EXPECT_EQ(entry.judged, At(kDay2));
  EXPECT_EQ(entry.verified, At(kDay1));
  const auto verdicts = store_->Verdicts("a").value();
  ASSERT_EQ(verdicts.size(), 3u);
  EXPECT_EQ(verdicts.back().drill_id, "d3");
  EXPECT_EQ(store_->FirstBadAfter("a", verdicts[0].sequence)->value().drill_id, "d2");
  const auto drills = store_->FamilyDrills("digits-mlp/cpu", 2).value();
  ASSERT_EQ(drills.size(), 2u);
  EXPECT_EQ(drills.back().drill_id, "d3");
  AddDrill("d4", kDay1, {{"a", "identical"}}, 0);
  EXPECT_EQ(LastSuccessOf(*store_), kDay1);
}

TEST_P(DrillsTest, TakesWhatAResumedDrillSaysLaterForItsWordAndKeepsBoth) {
  AddDrill("d1", kDay1, {{"a", "infra"}, {"b", "identical"}}, 4, kHere);
  AddDrill("d1", kDay2, {{"a", "infra"}, {"b", "identical"}}, 4, kHere);  // says the same again
  EXPECT_EQ(store_->Find("a")->last_verdict, Verdict::kInfra);
  EXPECT_EQ(store_->Find("a")->judged, At(kDay1));
  AddDrill("d1", kDay3, {{"a", "identical"}, {"b", "identical"}}, 0, kHere);
  EXPECT_EQ(store_->Find("a")->last_verdict, Verdict::kIdentical);
  EXPECT_EQ(LastSuccessOf(*store_), kDay3);
  AddDrill("d1", kDay4, {{"a", "drifted"}, {"b", "infra"}}, 1, kThere);
  EXPECT_EQ(store_->Find("a")->last_verdict, Verdict::kDrifted);
  EXPECT_EQ(LastSuccessOf(*store_), "never");
  const auto verdicts = store_->Verdicts("a").value();
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts[0].drill_id, "d1.3");
  EXPECT_EQ(store_->GetSurroundings(verdicts[0].surroundings_sha256).value(), kThere);
  EXPECT_EQ(store_->FamilyDrills("digits-mlp/cpu", 9)->size(), 1u);
  EXPECT_TRUE(store_->FamilyLastGood("digits-mlp/cpu")->empty());
  EXPECT_FALSE(store_->Find("b")->verified.has_value()) << "what was superseded shows nothing";
  EXPECT_EQ(Raw().Rows("SELECT drill_id, verdict FROM verdicts WHERE run_id = 'a' "
                       "ORDER BY drill_id"),
            (std::vector<std::string>{"d1|infra", "d1.2|identical", "d1.3|drifted"}));
}

TEST_P(DrillsTest, ShowsAFamilyOverItsLastDrillsAndNoOther) {
  AddDrill("d1", kDay1, {{"a", "identical"}, {"b", "identical"}}, 0, kHere);
  AddDrill("d2", kDay2, {{"other", "drifted"}}, 1);
  AddDrill("d3", kDay3, {{"a", "drifted"}, {"other", "identical"}}, 1, kThere);
  AddDrill("d4", kDay4, {{"b", "infra"}}, 4);
  const auto ids = [&](std::size_t limit) {
    std::string text;
    const auto drills = store_->FamilyDrills("digits-mlp/cpu", limit).value();
    for (const DrillRecord& drill : drills) text += drill.drill_id + " ";
    return text;
  };
  EXPECT_EQ(ids(10), "d1 d3 d4 ");
  EXPECT_EQ(ids(2), "d3 d4 ");
  EXPECT_EQ(store_->FamilyDrills("digits-mlp/cpu", 1)->front().exit_code, 4);
  const auto third = store_->FamilyVerdicts("digits-mlp/cpu", "d3").value();
  ASSERT_EQ(third.size(), 1u);
  EXPECT_EQ(third[0].run_id, "a");
  EXPECT_EQ(store_->GetSurroundings(third[0].surroundings_sha256).value(), kThere);
  const auto good = store_->FamilyLastGood("digits-mlp/cpu").value();
  ASSERT_EQ(good.size(), 2u);
  EXPECT_EQ(good[0].drill_id + good[1].drill_id, "d1d1");
  EXPECT_EQ(store_->FamilyEntries("digits-mlp/cpu")->size(), 2u);
  EXPECT_TRUE(store_->FamilyEntries("nobody")->empty());
  EXPECT_TRUE(store_->FamilyDrills("nobody", 9)->empty());
}

TEST_P(DrillsTest, TellsWhenARunWasLastJudgedWhateverCameOut) {
  EXPECT_FALSE(store_->Find("a")->judged.has_value());
  AddDrill("d1", kDay1, {{"a", "identical"}});
  AddDrill("d2", kDay3, {{"a", "infra"}});
  AddDrill("d3", kDay2, {{"a", "drifted"}});
  const HistoryEntry entry = store_->Find("a").value();
  EXPECT_EQ(entry.judged, At(kDay2));
  EXPECT_EQ(entry.verified, At(kDay2));
}

// What drills said of runs together.
class FamilyVerdictsTest : public DrillsTest {
 protected:
  Status Say(const std::string& drill_id, const std::string& day, const std::string& verdict,
             const std::string& family = "digits-mlp/cpu") {
    return store_->AddDrill({drill_id, At(day), At(day), 0},
                            {{},
                             {MakeVerdict(drill_id, "a", "identical", day)},
                             {MakeFamilyRecord(drill_id, "c1", verdict, day, family),
                              MakeFamilyRecord(drill_id, "c2", "identical", day, family)}});
  }
};

TEST_P(FamilyVerdictsTest, AreKeptInTheOrderOfTheirDrillsForEachConfiguration) {
  ASSERT_TRUE(Say("d1", kDay3, "equivalent").ok());
  ASSERT_TRUE(Say("d2", kDay1, "drifted").ok());  // the clock stepped back
  const auto held = store_->TogetherVerdicts("digits-mlp/cpu").value();
  ASSERT_EQ(held.size(), 4u);
  EXPECT_EQ(held[0].drill_id + " " + held[0].configuration + " " + NameOf(held[0].verdict),
            "d1 c1 equivalent");
  EXPECT_EQ(held[2].drill_id + " " + held[2].configuration + " " + NameOf(held[2].verdict),
            "d2 c1 drifted");
  EXPECT_EQ(held[2].decided, At(kDay1));
  EXPECT_EQ(held[2].runs, 3);
  EXPECT_EQ(held[2].reasons, R"(["because"])");
  EXPECT_EQ(held[2].name, "digits-mlp/cpu as c1");
  EXPECT_TRUE(store_->TogetherVerdicts("other")->empty());
  const auto last = store_->LastTogetherVerdicts().value();
  ASSERT_EQ(last.size(), 2u);
  EXPECT_EQ(last[0].verdict, Verdict::kDrifted);
  EXPECT_EQ(last[1].verdict, Verdict::kIdentical);
  EXPECT_EQ(store_->Find("a")->last_verdict, Verdict::kIdentical) << "the run's own is another one";
}

TEST_P(FamilyVerdictsTest, OfAResumedDrillTakeThePlaceOfWhatItSaidBefore) {
  ASSERT_TRUE(Say("d1", kDay1, "inconclusive").ok());
  ASSERT_TRUE(Say("d1", kDay2, "inconclusive").ok());  // the same again adds nothing
  EXPECT_EQ(store_->TogetherVerdicts("digits-mlp/cpu")->front().decided, At(kDay1));
  ASSERT_TRUE(Say("d1", kDay3, "drifted").ok());  // the runs' own verdicts are the same
  const auto held = store_->TogetherVerdicts("digits-mlp/cpu").value();
  ASSERT_EQ(held.size(), 2u);
  EXPECT_EQ(held[0].drill_id, "d1.2");
  EXPECT_EQ(held[0].verdict, Verdict::kDrifted);
  EXPECT_EQ(Raw().Rows("SELECT COUNT(*) FROM family_verdicts").front(), "4");
}

TEST_P(FamilyVerdictsTest, SpeakOfFamiliesThatTheHistoryHas) {
  const Status status = Say("d1", kDay1, "drifted", "stranger");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(store_->FamilyDrills("digits-mlp/cpu", 9)->empty()) << "whole or not at all";
}

INSTANTIATE_TEST_SUITE_P(Both, DrillsTest, BothDatabases(), DatabaseName);
INSTANTIATE_TEST_SUITE_P(Both, FamilyVerdictsTest, BothDatabases(), DatabaseName);

}  // namespace
}  // namespace rharness
