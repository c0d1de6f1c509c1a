// What objectives count: a run once, of a window, by what was said of it last.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/history/store_fixture.h"

namespace rharness {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TalliesTest : public HistoryTest {
 protected:
  void SetUp() override {
    HistoryTest::SetUp();
    if (IsSkipped()) return;
    store_ = OpenStore();
    for (const char* id : {"a", "b", "c"}) {
      ASSERT_TRUE(store_->Add(MakeManifest(id, kDay1, "mlp"), At(kDay1)).ok());
    }
    Manifest other = MakeManifest("other", kDay1, "cnn");
    other.determinism.declared = "statistical";
    other.duration_seconds = 0.0;
    ASSERT_TRUE(store_->Add(other, At(kDay2)).ok());
  }
  // Each rerun takes this long; the recorded run took 90.125 s.
  void AddDrill(const std::string& drill_id, const std::string& day,
                const std::vector<std::pair<std::string, std::string>>& verdicts,
                double wall_seconds = 90.125) {
    std::vector<RerunRecord> reruns;
    std::vector<VerdictRecord> records;
    for (const auto& [run_id, verdict] : verdicts) {
      reruns.push_back({drill_id, run_id, 1, "exited with 0", wall_seconds, "e"});
      records.push_back(MakeVerdict(drill_id, run_id, verdict, day));
    }
    ASSERT_TRUE(store_->AddDrill(DrillRecord{drill_id, At(day), At(day), 0}, reruns, records).ok());
  }
  // "mlp bitwise drifted 2 1 1": runs, checked twice, flipped.
  std::vector<std::string> Told(const char* since, const char* until) {
    std::vector<std::string> told;
    const auto tallies = store_->TallyVerdicts(At(since), At(until));
    EXPECT_TRUE(tallies.ok()) << tallies.error().ToString();
    for (const VerdictTally& one : *tallies) {
      told.push_back(one.family + " " + one.declared + " " + std::string(VerdictName(one.verdict)) +
                     " " + std::to_string(one.runs) + " " + std::to_string(one.checked_twice) +
                     " " + std::to_string(one.flipped));
    }
    return told;
  }

  std::unique_ptr<HistoryStore> store_;
};

TEST_P(TalliesTest, CountARunOnceByItsLastVerdictInTheWindow) {
  EXPECT_THAT(Told(kDay1, kDay4), IsEmpty());
  AddDrill("d1", kDay1, {{"a", "identical"}, {"b", "identical"}, {"other", "drifted"}});
  AddDrill("d2", kDay2, {{"a", "drifted"}, {"b", "equivalent"}, {"c", "inconclusive"}});
  AddDrill("d3", kDay3, {{"a", "infra"}});
  EXPECT_THAT(Told(kDay1, kDay4),
              ElementsAre("cnn statistical drifted 1 0 0", "mlp bitwise drifted 1 1 1",
                          "mlp bitwise equivalent 1 1 0", "mlp bitwise inconclusive 1 0 0"));
  EXPECT_THAT(Told(kDay1, kDay2),
              ElementsAre("cnn statistical drifted 1 0 0", "mlp bitwise identical 2 0 0"));
  EXPECT_THAT(Told(kDay3, kDay4), IsEmpty()) << "infrastructure says nothing of a run";
}

TEST_P(TalliesTest, AreThoseOfEachOfSeveralWindows) {
  AddDrill("d1", kDay1, {{"a", "identical"}, {"b", "identical"}, {"c", "not_comparable"}});
  AddDrill("d2", kDay2, {{"a", "drifted"}, {"b", "failed"}, {"c", "inconclusive"}});
  AddDrill("d3", kDay3, {{"b", "equivalent"}});
  const auto windows = store_->TallyWindows({At(kDay1), At(kDay3), At(kDay2)}, At(kDay4));
  ASSERT_TRUE(windows.ok()) << windows.error().ToString();
  std::vector<std::vector<std::string>> told;
  for (const auto& window : *windows) {
    told.emplace_back();
    for (const VerdictTally& one : window) {
      told.back().push_back(std::string(VerdictName(one.verdict)) + " " + std::to_string(one.runs) +
                            " " + std::to_string(one.flipped));
    }
  }
  EXPECT_THAT(told, ElementsAre(ElementsAre("drifted 1 1", "equivalent 1 1", "inconclusive 1 0"),
                                ElementsAre("equivalent 1 0"),
                                ElementsAre("drifted 1 0", "equivalent 1 0", "inconclusive 1 0")));
}

TEST_P(TalliesTest, LeaveOutRetiredRunsAndWhatWasSuperseded) {
  AddDrill("d1", kDay1, {{"a", "drifted"}, {"b", "drifted"}});
  ASSERT_TRUE(store_->Retire("b", "its image is gone", At(kDay2)).ok());
  AddDrill("d1", kDay1, {{"a", "identical"}});  // resumed, and said otherwise
  EXPECT_THAT(Told(kDay1, kDay4), ElementsAre("mlp bitwise identical 1 0 0"));
}

// What was entered later is later, whatever the clock showed.
TEST_P(TalliesTest, HoldTheVerdictThatWasEnteredLast) {
  AddDrill("d1", kDay3, {{"a", "drifted"}});
  AddDrill("d2", kDay2, {{"a", "identical"}});
  EXPECT_THAT(Told(kDay1, kDay4), ElementsAre("mlp bitwise identical 1 1 1"));
}

TEST_P(TalliesTest, CountWhoseLastVerdictWasSigned) {
  AddDrill("d1", kDay1, {{"a", "identical"}, {"b", "identical"}});
  AddDrill("d2", kDay2, {{"a", "identical"}, {"c", "drifted"}});
  const std::vector<AttestationRecord> some = {{"d1", "a", "key", "s1", At(kDay3)},
                                               {"d1", "b", "key", "s2", At(kDay3)},
                                               {"d1", "b", "other", "s2", At(kDay3)},
                                               {"d2", "c", "key", "s3", At(kDay3)}};
  ASSERT_TRUE(store_->AddAttestations(some).ok());
  ASSERT_TRUE(store_->AddAttestations(some).ok()) << "told again, it is as it was";
  std::vector<std::string> told;
  const auto tallies = store_->TallyVerdicts(At(kDay1), At(kDay4));
  ASSERT_TRUE(tallies.ok()) << tallies.error().ToString();
  for (const VerdictTally& one : *tallies) {
    told.push_back(std::string(VerdictName(one.verdict)) + " " + std::to_string(one.runs) + " " +
                   std::to_string(one.attested));
  }
  // Of "a" an older verdict was signed, and the last one was not.
  EXPECT_THAT(told, ElementsAre("drifted 1 1", "identical 2 1"));
  EXPECT_EQ(store_->AddAttestations({{"d2", "b", "key", "s", At(kDay3)}}).error().code,
            ErrorCode::kNotFound);
}

TEST_P(TalliesTest, CountRunsThatFlipWithNothingChanged) {
  const auto drill = [&](const std::string& id, const char* day, const std::string& environment,
                         const std::vector<std::pair<std::string, std::string>>& verdicts) {
    std::vector<RerunRecord> reruns;
    std::vector<VerdictRecord> records;
    for (const auto& [run_id, verdict] : verdicts) {
      for (const int rerun : {1, 2}) {  // which are one verdict
        reruns.push_back({id, run_id, rerun, "exited with 0", 1.0, "e", [environment] {
                            return Surroundings{{"environment.hardware", environment}};
                          }});
      }
      records.push_back(MakeVerdict(id, run_id, verdict, day));
    }
    ASSERT_TRUE(store_->AddDrill(DrillRecord{id, At(day), At(day), 0}, reruns, records).ok());
  };
  drill("d1", kDay1, "x", {{"a", "identical"}, {"b", "identical"}, {"c", "identical"}});
  drill("d2", kDay2, "x", {{"a", "failed"}, {"b", "identical"}, {"other", "drifted"}});
  drill("d3", kDay3, "y", {{"c", "drifted"}, {"b", "drifted"}, {"other", "inconclusive"}});
  const auto tallies = store_->TallyFlakes(At(kDay1), At(kDay4));
  ASSERT_TRUE(tallies.ok()) << tallies.error().ToString();
  // "a" flipped on x; "b" did not there; "c" and "other" were judged once on each.
  ASSERT_EQ(tallies->size(), 1U);
  EXPECT_EQ(tallies->front().family, "mlp");
  EXPECT_EQ(tallies->front().unchanged, 2);
  EXPECT_EQ(tallies->front().flaked, 1);
}

// Where the reruns of one drill had different environments, these may be what its verdict is about.
TEST_P(TalliesTest, CallNothingUnchangedWhereRerunsOfADrillHadDifferentEnvironments) {
  const auto drill = [&](const std::string& id, const char* day, const std::string& verdict,
                         const std::vector<std::string>& environments) {
    std::vector<RerunRecord> reruns;
    for (const std::string& environment : environments) {
      reruns.push_back(
          {id, "a", static_cast<int>(reruns.size()) + 1, "exited with 0", 1.0, "e", [environment] {
             return environment.empty() ? Surroundings()
                                        : Surroundings{{"environment.hardware", environment}};
           }});
    }
    ASSERT_TRUE(store_
                    ->AddDrill(DrillRecord{id, At(day), At(day), 0}, reruns,
                               {MakeVerdict(id, "a", verdict, day)})
                    .ok());
  };
  drill("d1", kDay1, "drifted", {"x", "y"});
  drill("d2", kDay2, "identical", {"x"});
  EXPECT_THAT(*store_->TallyFlakes(At(kDay1), At(kDay4)), IsEmpty());
  drill("d3", kDay2, "identical", {"x", "", "x"});  // of a rerun that was lost nothing is known
  const auto alike = store_->TallyFlakes(At(kDay1), At(kDay4));
  ASSERT_EQ(alike->size(), 1U);
  EXPECT_EQ(alike->front().unchanged, 1);
  EXPECT_EQ(alike->front().flaked, 0);
  drill("d4", kDay3, "drifted", {"x"});
  const auto flaked = store_->TallyFlakes(At(kDay1), At(kDay4));
  ASSERT_EQ(flaked->size(), 1U);
  EXPECT_EQ(flaked->front().unchanged, 1);
  EXPECT_EQ(flaked->front().flaked, 1);
}

// What a run was seen to read and nobody declared may change between two drills as well.
TEST_P(TalliesTest, CallNothingUnchangedWhereTheRunReadSomethingElse) {
  const auto drill = [&](const std::string& id, const char* day, const std::string& verdict,
                         const std::string& observation) {
    const RerunRecord rerun{
        id, "a", 1, "exited with 0", 1.0, "e", [observation] {
          return Surroundings{{"environment.hardware", "x"}, {"observation", observation}};
        }};
    const VerdictRecord record = MakeVerdict(id, "a", verdict, day);
    ASSERT_TRUE(store_->AddDrill(DrillRecord{id, At(day), At(day), 0}, {rerun}, {record}).ok());
  };
  drill("d1", kDay1, "identical", "kernel.py 1");
  drill("d2", kDay2, "drifted", "kernel.py 2");
  drill("d3", kDay2, "identical", "kernel.py 1");
  const auto changed = store_->TallyFlakes(At(kDay1), At(kDay4));
  ASSERT_EQ(changed->size(), 1U);
  EXPECT_EQ(changed->front().unchanged, 1);
  EXPECT_EQ(changed->front().flaked, 0);
  drill("d4", kDay3, "drifted", "kernel.py 1");
  EXPECT_EQ(store_->TallyFlakes(At(kDay1), At(kDay4))->front().flaked, 1);
}

TEST_P(TalliesTest, SayHowLongRunsHaveWaited) {
  AddDrill("d1", kDay1, {{"a", "identical"}, {"b", "inconclusive"}});
  AddDrill("d2", kDay3, {{"a", "drifted"}});
  ASSERT_TRUE(store_->Retire("c", "its image is gone", At(kDay2)).ok());
  const auto tallies = store_->TallyWaiting(At(kDay2));
  ASSERT_TRUE(tallies.ok()) << tallies.error().ToString();
  ASSERT_EQ(tallies->size(), 2U);
  const WaitingTally& cnn = tallies->front();
  EXPECT_EQ(cnn.family, "cnn");
  EXPECT_EQ(cnn.waiting, 0) << "it was added at the limit";
  EXPECT_EQ(cnn.oldest, At(kDay2));
  const WaitingTally& mlp = tallies->back();
  EXPECT_EQ(mlp.runs, 2);
  EXPECT_EQ(mlp.never, 1);
  EXPECT_EQ(mlp.waiting, 1);
  EXPECT_EQ(mlp.oldest, At(kDay1));
}

TEST_P(TalliesTest, CompareTheTimeOfRerunsWithThatOfTheRuns) {
  AddDrill("d1", kDay1, {{"a", "identical"}, {"other", "identical"}}, 90.125);
  AddDrill("d2", kDay2, {{"a", "identical"}, {"b", "failed"}}, 180.25);
  const auto tallies = store_->TallyRuntimes(At(kDay1), At(kDay4));
  ASSERT_TRUE(tallies.ok()) << tallies.error().ToString();
  ASSERT_EQ(tallies->size(), 1U) << "a run of unknown duration has no ratio";
  EXPECT_EQ(tallies->front().family, "mlp");
  EXPECT_EQ(tallies->front().reruns, 2);
  EXPECT_DOUBLE_EQ(tallies->front().wall_seconds, 270.375);
  EXPECT_DOUBLE_EQ(tallies->front().mean_ratio, 1.5);
  ASSERT_TRUE(tallies->front().ratio_sd);
  EXPECT_NEAR(*tallies->front().ratio_sd, 0.70710678, 1e-8);
  EXPECT_EQ(tallies->front().verdicts, 2);
  const auto one = store_->TallyRuntimes(At(kDay1), At(kDay2));
  ASSERT_EQ(one->size(), 1U);
  EXPECT_FALSE(one->front().ratio_sd);
}

TEST_P(TalliesTest, CountAVerdictOnceHoweverManyRerunsLedToIt) {
  ASSERT_TRUE(store_
                  ->AddDrill(DrillRecord{"d1", At(kDay1), At(kDay1), 0},
                             {{"d1", "a", 1, "exited with 0", 10.0, "e"},
                              {"d1", "a", 3, "exited with 0", 20.0, "e"},
                              {"d1", "b", 2, "exited with 0", 30.0, "e"}},
                             {MakeVerdict("d1", "a", "identical", kDay1),
                              MakeVerdict("d1", "b", "inconclusive", kDay1)})
                  .ok());
  const auto tallies = store_->TallyRuntimes(At(kDay1), At(kDay4));
  ASSERT_EQ(tallies->size(), 1U);
  EXPECT_EQ(tallies->front().reruns, 3);
  EXPECT_EQ(tallies->front().verdicts, 2);
  EXPECT_DOUBLE_EQ(tallies->front().wall_seconds, 60.0);
}

TEST_P(TalliesTest, CountWhatTheLastVerdictsMeasured) {
  const auto drill = [&](const std::string& id, const char* day,
                         std::vector<std::pair<std::string, VerdictMeasures>> measured) {
    std::vector<RerunRecord> reruns;
    std::vector<VerdictRecord> records;
    for (auto& [run_id, measures] : measured) {
      reruns.push_back({id, run_id, 1, "exited with 0", 1.0, "e"});
      records.push_back(MakeVerdict(id, run_id, "drifted", day));
      records.back().measures = std::move(measures);
    }
    ASSERT_TRUE(store_->AddDrill(DrillRecord{id, At(day), At(day), 0}, reruns, records).ok());
  };
  drill("d1", kDay1,
        {{"a", {.weights_equal = true, .margins = 9.0, .warnings = 7, .not_recorded = 3}},
         {"b", {.margins = 0.25, .warnings = 0, .data_had = false}}});
  drill("d2", kDay2,
        {{"a", {.weights_equal = false, .margins = 0.5, .data_had = true, .not_recorded = 0}},
         {"c", {.weights_equal = true, .warnings = 2}}});
  AddDrill("d3", kDay3, {{"b", "identical"}});  // which measured nothing
  const auto tallies = store_->TallyMeasures(At(kDay1), At(kDay4));
  ASSERT_TRUE(tallies.ok()) << tallies.error().ToString();
  ASSERT_EQ(tallies->size(), 1U);
  const MeasureTally& mlp = tallies->front();
  EXPECT_EQ(mlp.family, "mlp");
  EXPECT_EQ(mlp.weights, 2) << "a and c";
  EXPECT_EQ(mlp.weights_equal, 1);
  EXPECT_EQ(mlp.metrics, 2) << "a and b";
  EXPECT_DOUBLE_EQ(mlp.margins_squared, 0.5 * 0.5 + 0.25 * 0.25);
  EXPECT_EQ(mlp.looked_at, 2) << "b and c";
  EXPECT_EQ(mlp.warned, 1);
  EXPECT_EQ(mlp.data, 2) << "a and b";
  EXPECT_EQ(mlp.data_had, 1);
  EXPECT_EQ(mlp.records, 1);
  EXPECT_EQ(mlp.admitted, 1);
  EXPECT_THAT(*store_->TallyMeasures(At(kDay3), At(kDay4)), IsEmpty());
}

TEST_P(TalliesTest, CountTheLastRollbackOfEachRun) {
  const auto say = [&](const char* drill, const char* run, const char* property, const char* state,
                       const char* day) {
    const Status added = store_->AddPropertyVerdicts(
        {{drill, run, property, *ParsePropertyState(state), At(day), "why"}});
    EXPECT_TRUE(added.ok()) << added.error().ToString();
  };
  say("d1", "a", kRollbackProperty, "lost", kDay1);
  say("d2", "a", kRollbackProperty, "held", kDay2);
  say("d2", "b", kRollbackProperty, "held_within", kDay2);
  say("d2", "c", kRollbackProperty, "not_judged", kDay2);
  say("d3", "b", kRollbackProperty, "lost", kDay3);
  say("d3", "a", "resumed@4", "lost", kDay3);  // another property
  const auto tallies = store_->TallyRollbacks(At(kDay1), At(kDay3));
  ASSERT_TRUE(tallies.ok()) << tallies.error().ToString();
  ASSERT_EQ(tallies->size(), 1U);
  EXPECT_EQ(tallies->front().family, "mlp");
  EXPECT_EQ(tallies->front().runs, 3);
  EXPECT_EQ(tallies->front().held, 2) << "a and b";
  EXPECT_EQ(tallies->front().lost, 0);
  const auto later = store_->TallyRollbacks(At(kDay3), At(kDay4));
  ASSERT_EQ(later->size(), 1U);
  EXPECT_EQ(later->front().runs, 1);
  EXPECT_EQ(later->front().lost, 1);
  EXPECT_THAT(*store_->TallyRollbacks(At(kDay4), At(kDay4)), IsEmpty());
  ASSERT_TRUE(store_->Retire("b", "its image is gone", At(kDay3)).ok());
  EXPECT_THAT(*store_->TallyRollbacks(At(kDay3), At(kDay4)), IsEmpty());
}

TEST_P(TalliesTest, ListTheRunsThatDoNotReproduceThoseJudgedLastFirst) {
  AddDrill("d1", kDay1, {{"a", "drifted"}, {"b", "failed"}, {"c", "drifted"}});
  AddDrill("d2", kDay2, {{"a", "drifted"}, {"c", "identical"}, {"other", "inconclusive"}});
  const auto ids = [&](std::size_t limit) {
    std::vector<std::string> found;
    const auto bad = store_->LastBad(limit);
    EXPECT_TRUE(bad.ok()) << bad.error().ToString();
    for (const HistoryEntry& one : *bad)
      found.push_back(one.run_id + " " + NameOf(one.last_verdict));
    return found;
  };
  EXPECT_THAT(ids(10), ElementsAre("a drifted", "b failed"));
  EXPECT_THAT(ids(1), ElementsAre("a drifted"));
  ASSERT_TRUE(store_->Retire("a", "its image is gone", At(kDay3)).ok());
  EXPECT_THAT(ids(10), ElementsAre("b failed"));
}

// An open verdict says nothing of a run: it does not mend one that drifted.
TEST_P(TalliesTest, ListARunAsBrokenUntilAGoodVerdictComes) {
  AddDrill("d1", kDay1, {{"a", "drifted"}, {"b", "failed"}, {"c", "identical"}});
  AddDrill("d2", kDay2, {{"a", "infra"}, {"b", "not_comparable"}, {"c", "inconclusive"}});
  AddDrill("d3", kDay3, {{"a", "not_comparable"}});
  const auto told = [&] {
    std::vector<std::string> found;
    const auto bad = store_->LastBad(10);
    EXPECT_TRUE(bad.ok()) << bad.error().ToString();
    for (const HistoryEntry& one : *bad)
      found.push_back(one.run_id + " " + NameOf(one.last_verdict));
    return found;
  };
  const auto drifted = [&](const char* since) {
    std::int64_t runs = 0;
    const auto tallies = store_->TallyVerdicts(At(since), At(kDay4));
    EXPECT_TRUE(tallies.ok()) << tallies.error().ToString();
    for (const VerdictTally& one : *tallies) runs += one.drifted;
    return runs;
  };
  EXPECT_THAT(told(), ElementsAre("a drifted", "b failed"));
  EXPECT_EQ(store_->LastBad(1)->size(), 1U);
  EXPECT_EQ(drifted(kDay1), 1);
  EXPECT_EQ(drifted(kDay2), 0) << "it drifted before this window";
  AddDrill("d4", kDay3, {{"a", "failed"}});
  EXPECT_EQ(drifted(kDay1), 1);
  AddDrill("d5", kDay3, {{"a", "equivalent"}});
  EXPECT_THAT(told(), ElementsAre("b failed"));
  EXPECT_EQ(drifted(kDay1), 0);
  // What a resumed drill says later takes the place of what it said.
  AddDrill("d2", kDay3, {{"b", "identical"}});
  EXPECT_THAT(told(), ElementsAre());
}

TEST_P(TalliesTest, CountTheLastAnswersToWhetherRunsCanBeRebuilt) {
  ASSERT_TRUE(store_->AddRebuild({"a", At(kDay1), PartState::kHad, "[]"}).ok());
  ASSERT_TRUE(store_->AddRebuild({"a", At(kDay2), PartState::kGone, "[]"}).ok());
  ASSERT_TRUE(store_->AddRebuild({"b", At(kDay1), PartState::kHad, "[]"}).ok());
  const auto tallies = store_->TallyRebuilds();
  ASSERT_TRUE(tallies.ok()) << tallies.error().ToString();
  std::vector<std::string> told;
  for (const RebuildTally& one : *tallies) {
    told.push_back(one.family + " " + std::string(PartStateName(one.state)) + " " +
                   std::to_string(one.runs));
  }
  EXPECT_THAT(told, ElementsAre("mlp gone 1", "mlp had 1"));
}

INSTANTIATE_TEST_SUITE_P(Both, TalliesTest, BothDatabases(), DatabaseName);

}  // namespace
}  // namespace rharness
