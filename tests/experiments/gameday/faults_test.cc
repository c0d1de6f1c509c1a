// Faults as they are named, and in what a run is given.
#include "harness/experiments/gameday/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/experiments/gameday/grounds.h"
#include "harness/experiments/gameday/planted_run.h"

namespace rharness {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Manifest Recorded(const std::string& run_id = "run") {
  Manifest run;
  run.run_id = run_id;
  run.family = "tiny";
  run.command = {"train", "--seed", "7", "--lr", "0.1", "--data-seed=7", "--epochs", "7"};
  run.seeds = {{"init", 7}};
  run.hyperparameters = {{"learning_rate", 0.1}, {"batch", 32}, {"warmup", 0.2}};
  run.data = {
      {.name = "train", .path = "in.csv", .kind = DataKind::kFile, .sha256 = std::string(64, 'a')}};
  run.determinism.declared = "statistical";
  run.duration_seconds = 10;
  return run;
}

Fault One(const std::string& text) {
  const auto faults = ParseFaults(text);
  EXPECT_TRUE(faults.ok() && faults->size() == 1) << text;
  return faults.ok() && !faults->empty() ? faults->front() : Fault();
}

std::vector<std::string> CommandWith(const std::string& fault) {
  const auto planted = PlantInRun(One(fault), Recorded(), {});
  EXPECT_TRUE(planted.ok()) << planted.error().ToString();
  return planted.ok() ? planted->command : std::vector<std::string>();
}

std::string WhyNot(const std::string& fault, const Manifest& run = Recorded()) {
  const auto planted = PlantInRun(One(fault), run, {});
  return planted.ok() ? "" : planted.error().message;
}

TEST(Faults, AreOneAFactorAndSayTheirSize) {
  const auto faults = ParseFaults("hyperparameter:learning_rate*0.999,0.99,1.1@--lr");
  ASSERT_TRUE(faults.ok()) << faults.error().ToString();
  ASSERT_EQ(faults->size(), 3U);
  EXPECT_EQ((*faults)[0].name, "hyperparameter:learning_rate*0.999");
  EXPECT_EQ((*faults)[2].option, "--lr");
  EXPECT_EQ(FaultWords((*faults)[0]), "a learning rate 0.1 % lower");
  EXPECT_EQ(FaultWords((*faults)[2]), "a learning rate 10 % higher");
}

Manifest OfFourRanks() {
  Manifest run = Recorded();
  run.gang = Gang{.nodes = 2,
                  .tasks_per_node = 2,
                  .start = GangStart::kPerTask,
                  .workspace = GangWorkspace::kShared,
                  .rendezvous = {},
                  .parts = {}};
  return run;
}

RankChange OnOneRank(const std::string& text, const DataItem& data = {}) {
  const Fault fault = One(text);
  const auto planted = PlantInRun(fault, OfFourRanks(), data);
  EXPECT_TRUE(planted.ok()) << planted.error().ToString();
  return planted.ok() ? ChangeOf(fault, OfFourRanks(), *planted) : RankChange();
}

TEST(Faults, OneRankAloneGetsItsSeedOrVariable) {
  const RankChange seed = OnOneRank("seed:lost on rank 3");
  EXPECT_EQ(seed.rank, 3);
  EXPECT_THAT(seed.command, ElementsAre("train", "--seed", "7926", "--lr", "0.1",
                                        "--data-seed=7926", "--epochs", "7"));
  EXPECT_TRUE(seed.environment.empty());
  const RankChange library = OnOneRank("env:PYTHONPATH=/opt/other on rank 1");
  EXPECT_EQ(library.rank, 1);
  EXPECT_TRUE(library.command.empty());
  EXPECT_EQ(library.environment.at("PYTHONPATH"), "/opt/other");
  EXPECT_EQ(One("seed:lost on rank 3").name, "seed:lost on rank 3");
  EXPECT_EQ(FaultWords(One("seed:lost on rank 3")), "a lost seed on rank 3");
}

TEST(Faults, OneRankGetsOtherDataWhereItsCommandNamesTheFile) {
  DataItem copy;
  copy.location = "/day/planted/copy";
  EXPECT_THAT(WhyNot("data:train=row on rank 2", OfFourRanks()), HasSubstr("does not name in.csv"));
  Manifest run = OfFourRanks();
  run.command = {"train", "in.csv", "--data=in.csv", "main.csv"};
  const Fault fault = One("data:train=row on rank 2");
  const auto planted = PlantInRun(fault, run, copy);
  ASSERT_TRUE(planted.ok()) << planted.error().ToString();
  EXPECT_THAT(ChangeOf(fault, run, *planted).command,
              ElementsAre("train", "/day/planted/copy", "--data=/day/planted/copy", "main.csv"));
  EXPECT_EQ(planted->data[0].sha256, std::string(64, 'a')) << "all others have the recorded data";
}

TEST(Faults, ARankThatTheRunDoesNotHaveGetsNone) {
  EXPECT_THAT(WhyNot("seed:lost on rank 4", OfFourRanks()), HasSubstr("ranks 0 to 3"));
  EXPECT_THAT(WhyNot("seed:lost on rank 0"), HasSubstr("recorded as one process"));
  Manifest once = OfFourRanks();
  once.gang->start = GangStart::kOnce;
  EXPECT_THAT(WhyNot("seed:lost on rank 0", once), HasSubstr("starts its ranks itself"));
  for (const char* text : {"seed:lost on rank", "seed:lost on rank x", "seed:lost on rank -1",
                           "tensor:bit on rank 1", "curve:loss*2 on rank 1"}) {
    EXPECT_FALSE(ParseFaults(text).ok()) << text;
  }
  EXPECT_THAT(DefaultFaults(OfFourRanks())[1].name, testing::StrEq("seed:lost on rank 3"));
}

TEST(Faults, WhatIsNoneIsRefusedWithWhatWasExpected) {
  for (const char* text : {"",
                           "seed",
                           "seed:found",
                           "hyperparameter:lr",
                           "hyperparameter:*0.9",
                           "hyperparameter:lr*1",
                           "hyperparameter:lr*-1",
                           "hyperparameter:lr*nan",
                           "hyperparameter:lr*0.9,",
                           "curve:loss*0",
                           "hyperparameter:lr*0.9@lr",
                           "curve:loss*1.1@--x",
                           "env:A B=1",
                           "env:=1",
                           "argument:lr",
                           "data:train=other",
                           "data:=row",
                           "tensor:bytes",
                           "metric:loss+2",
                           "metric:loss+0sd",
                           "metric:+1sd",
                           "what:ever",
                           "env:A=x\ny"}) {
    const auto faults = ParseFaults(text);
    ASSERT_FALSE(faults.ok()) << text;
    EXPECT_EQ(faults.error().code, ErrorCode::kInvalidInput) << text;
    EXPECT_EQ(faults.error().where, "--fault");
  }
}

TEST(Faults, ALostSeedChangesEveryArgumentThatPassesItAndNoOther) {
  const auto command = CommandWith("seed:lost");
  ASSERT_EQ(command.size(), 8U);
  EXPECT_EQ(command[2], "7926");
  EXPECT_EQ(command[5], "--data-seed=7926");
  EXPECT_EQ(command[7], "7") << "epochs are no seed";
  Manifest without = Recorded();
  without.seeds.clear();
  EXPECT_THAT(WhyNot("seed:lost", without), HasSubstr("no seeds"));
  without.seeds = {{"init", 12}};
  EXPECT_THAT(WhyNot("seed:lost", without), HasSubstr("passes none"));
}

TEST(Faults, AHyperparameterIsScaledWhereTheCommandPassesIt) {
  EXPECT_EQ(CommandWith("hyperparameter:learning_rate*0.95")[4], "0.095");
  EXPECT_EQ(CommandWith("hyperparameter:lr*0.9")[4], "0.09");
  const auto appended = CommandWith("hyperparameter:warmup*0.5@--warmup");
  EXPECT_THAT(std::vector(appended.end() - 2, appended.end()), ElementsAre("--warmup", "0.1"));
  EXPECT_THAT(WhyNot("hyperparameter:warmup*0.5"), HasSubstr("does not pass it"));
  EXPECT_THAT(WhyNot("hyperparameter:batch*1.001@--batch"), HasSubstr("leaves as it is"));
  EXPECT_THAT(WhyNot("hyperparameter:nothing*0.5"), HasSubstr("no such hyperparameter"));
  // Another number than the recorded one is not the rate.
  Manifest other = Recorded();
  other.command[4] = "0.3";
  EXPECT_THAT(WhyNot("hyperparameter:learning_rate*0.95", other), HasSubstr("does not pass it"));
}

TEST(Faults, AVariableOrArgumentThatIsAsRecordedIsNoFault) {
  Manifest run = Recorded();
  run.environment.variables["KERNEL"] = "a";
  EXPECT_THAT(WhyNot("env:KERNEL=a", run), HasSubstr("is what was recorded"));
  EXPECT_EQ(*PlantInRun(One("env:KERNEL=b"), run, {})->environment.variables.at("KERNEL"), "b");
  EXPECT_THAT(WhyNot("argument:epochs=7"), HasSubstr("is what was recorded"));
  EXPECT_EQ(CommandWith("argument:epochs=8")[7], "8");
  EXPECT_THAT(WhyNot("argument:nothing=8"), HasSubstr("--epochs"));
}

TEST(Faults, DataStandInUnderTheRecordedHashOrUnderTheirOwn) {
  const DataItem copy{.name = "train", .location = "/copy", .sha256 = std::string(64, 'b')};
  const auto claimed = PlantInRun(One("data:train=row"), Recorded(), copy);
  EXPECT_EQ(claimed->data[0].location, "/copy");
  EXPECT_EQ(claimed->data[0].sha256, std::string(64, 'a'));
  const auto unseen = PlantInRun(One("data:train=row-unseen"), Recorded(), copy);
  EXPECT_EQ(unseen->data[0].sha256, copy.sha256);
  EXPECT_FALSE(DataOf(One("data:other=row"), Recorded()).ok());
  Manifest folder = Recorded();
  folder.data[0].kind = DataKind::kDirectory;
  EXPECT_THAT(DataOf(One("data:train=row"), folder).error().message, HasSubstr("directory"));
}

TEST(Faults, WithoutItsSeedsARunStaysInItsConfiguration) {
  Manifest other = Recorded("other");
  other.command[2] = "9";
  other.command[5] = "--data-seed=9";
  other.seeds = {{"init", 9}};
  ASSERT_EQ(ConfigurationKey(other), ConfigurationKey(Recorded()));
  EXPECT_EQ(ConfigurationKey(Unseeded(other)), ConfigurationKey(Unseeded(Recorded())));
  EXPECT_TRUE(Unseeded(other).seeds.empty());
}

TEST(Grounds, HaveEachRunOnceAndNoRerunOfWhatCannotBePlanted) {
  const std::vector<Manifest> runs = {Recorded("a"), Recorded("b")};
  const auto grounds = GroundsOf(runs, {One("hyperparameter:warmup*0.5")}, false);
  ASSERT_EQ(grounds.size(), 1U);
  EXPECT_THAT(grounds[0].run_ids, ElementsAre("a", "b"));
  std::vector<std::string> planted;
  for (const GroundFault& one : grounds[0].faults) {
    if (one.cannot.empty()) planted.push_back(one.fault.name);
  }
  EXPECT_THAT(planted, Contains("seed:lost"));
  EXPECT_THAT(planted, Contains("hyperparameter:learning_rate*0.95"));
  EXPECT_THAT(planted, Not(Contains("hyperparameter:warmup*0.5")));
  const std::map<std::string, Manifest> by_id = {{"a", runs[0]}, {"b", runs[1]}};
  const std::size_t all = PlanReruns(grounds, by_id, {}).reruns.size();
  EXPECT_EQ(all, 2 * (2 + planted.size()));
  // Of a budget, reruns as recorded come first: nothing is told without them.
  PlanOptions options;
  options.budget_seconds = 4 * PlanRerun(runs[0], 1, options).expected_seconds;
  const GamedayPlan cut = PlanReruns(grounds, by_id, options);
  ASSERT_EQ(cut.reruns.size(), 4U);
  EXPECT_EQ(cut.left_out, static_cast<int>(all) - 4);
  for (const PlannedRerun& rerun : cut.reruns) EXPECT_LE(rerun.rerun, 2);
}

TEST(Grounds, TakeTheSameRunsOnEveryDay) {
  std::vector<HistoryEntry> entries;
  for (int i = 0; i < 20; ++i) {
    HistoryEntry& entry = entries.emplace_back();
    entry.run_id = "run-" + std::to_string(i);
    entry.configuration = i < 15 ? "x" : "y";
  }
  const auto chosen = ChooseRuns(entries, 6);
  EXPECT_EQ(chosen.size(), 6U + 5U);
  std::reverse(entries.begin(), entries.end());
  auto again = ChooseRuns(entries, 6);
  std::reverse(again.begin(), again.end());
  EXPECT_EQ(again, chosen);
}

}  // namespace
}  // namespace rharness
