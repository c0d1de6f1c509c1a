// `rharness gameday` as a program: faults that are found and missed, its certificate in a drill,
// interruptions, histories that are too thin, hostile names; and the shipped history.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "reports/gameday_report.h"
#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// $1: a folder, $2: --lr, $3: the rate, $4: --seed, $5: the seed. Accuracy depends on all, a little
// on JITTER, and on the second row of the data. While "kill_at" holds the number of this call
// there, it kills whoever started it.
constexpr char kLearner[] = R"sh(echo run >> "$1/calls"
calls=$(wc -l < "$1/calls")
if [ -e "$1/kill_at" ] && [ "$(cat "$1/kill_at")" -eq "$calls" ]; then
  rm "$1/kill_at"
  kill -9 $PPID
  sleep 600
fi
base=$(sed -n 2p value)
awk -v b="$base" -v lr="$3" -v s="$5" -v j="${JITTER:-0}" 'BEGIN {
  printf "{\"metrics\": {\"accuracy\": %.12g}}", b + 5 * (lr - 0.1) + (s * 7 % 11) / 2000 + j }' > metrics.json
)sh";

class GamedayProgram : public DrillProgram {
 protected:
  GamedayProgram() {
    Write("train.sh", kLearner);
    Write("value", "head\n0.75\n0.25\n0.5\n0.5\n0.5\n");
  }

  void RecordSeeds(int runs) {
    for (int seed = 1; seed <= runs; ++seed) {
      const std::string text = std::to_string(seed);
      Record("run-" + text,
             {"--no-observe", "--run-id", "run-" + text, "--seed", "shuffle=" + text,
              "--determinism", "statistical"},
             {"sh", "train.sh", At("").string(), "--lr", "0.1", "--seed", text});
    }
    Add();
  }
  ProcessResult Gameday(std::vector<std::string> options) const {
    options.insert(options.begin(), {kRharness, "gameday"});
    return Run(options);
  }
  ProcessResult Plant(const std::vector<std::string>& faults,
                      const std::vector<std::string>& more = {}) const {
    std::vector<std::string> options = {"--history", "runs.db", "--out", "day",
                                        "--no-default-faults"};
    for (const std::string& fault : faults) options.insert(options.end(), {"--fault", fault});
    options.insert(options.end(), more.begin(), more.end());
    return Gameday(options);
  }
  Sensitivity Told() const {
    const auto json = ReadJsonFile(At("day/gameday.json"));
    EXPECT_TRUE(json.ok()) << json.error().ToString();
    if (!json.ok() || json->Find("sensitivity") == nullptr) return {};
    auto told = ParseSensitivity(*json->Find("sensitivity"), "gameday.json");
    EXPECT_TRUE(told.ok()) << told.error().ToString();
    return told.ok() ? std::move(*told) : Sensitivity();
  }
  SensitivityRate RateOf(const std::string& name) const {
    const Sensitivity told = Told();
    for (const SensitivityFamily& family : told.families) {
      for (const auto* rates : {&family.faults, &family.unchanged}) {
        for (const SensitivityRate& rate : *rates) {
          if (rate.name == name) return rate;
        }
      }
    }
    ADD_FAILURE() << "no rate of " << name;
    return {};
  }
};

int ExitOf(const ProcessResult& result) { return result.outcome.exit_code; }

TEST_F(GamedayProgram, TellsWhatIsFoundAndWhatIsNotAndADrillShowsIt) {
  RecordSeeds(12);
  const ProcessResult result = Plant({"hyperparameter:lr*0.5,0.9999", "data:value=row"});
  ASSERT_EQ(ExitOf(result), 0) << result.stdout_text << result.stderr_text;
  EXPECT_EQ(RateOf("hyperparameter:lr*0.5").found, 12);
  EXPECT_EQ(RateOf("hyperparameter:lr*0.5").trials, 12);
  EXPECT_EQ(RateOf("hyperparameter:lr*0.9999").found, 0);
  EXPECT_EQ(RateOf("data:value=row").found, 12) << "by its hash";
  EXPECT_EQ(RateOf("same").found, 0);
  EXPECT_EQ(RateOf("same").equal, 12);
  EXPECT_EQ(RateOf("as_recorded").found, 0);
  EXPECT_EQ(RateOf("flips").trials, 12);
  EXPECT_EQ(RateOf("flips").found, 0);
  EXPECT_EQ(RateOf("reseeded").trials, 12);
  const std::string sentence =
      "a lr 50 % lower would have been found in 100 % (73-100) of 12 trials, a lr 0.01 % lower in "
      "0 % (0-27) of 12 trials";
  EXPECT_THAT(result.stdout_text, HasSubstr("a lr 50 % lower would have been found in 100 %"));
  EXPECT_THAT(Read(At("value")), HasSubstr("0.75")) << "only copies are spoilt";
  // Every rerun is off by less than anybody minds: equivalent, and the certificate is beside it.
  const ProcessResult drilled =
      Drill({"--certificate", "day/certificate.json", "--env", "JITTER=0.0001"});
  EXPECT_EQ(ExitOf(drilled), 0) << drilled.stdout_text << drilled.stderr_text;
  EXPECT_THAT(drilled.stdout_text, HasSubstr("a lr 50 % lower would have been found in 100 %"));
  const Report report = StoredReport();
  ASSERT_EQ(report.runs.size(), 12U);
  for (const ReportRun& run : report.runs) {
    EXPECT_EQ(run.verdict, Verdict::kEquivalent) << run.run_id;
    EXPECT_EQ(run.sensitivity, sentence);
  }
  ASSERT_EQ(report.sensitivity.size(), 1U);
  EXPECT_EQ(report.sensitivity[0].sentences.size(), 4U);
  const std::string page = Read(At("out/report.html"));
  EXPECT_THAT(page, HasSubstr(sentence));
  EXPECT_THAT(page, HasSubstr("Would it have been noticed?"));
  // Rendered again, it is still there.
  ASSERT_EQ(ExitOf(Run({kRharness, "--quiet", "report", "out", "--html", "again.html"})), 0);
  EXPECT_THAT(Read(At("again.html")), HasSubstr(sentence));
}

TEST_F(GamedayProgram, ACertificateOfAnotherWayToDrillSaysSoAndNothingElse) {
  RecordSeeds(11);
  ASSERT_EQ(ExitOf(Plant({"hyperparameter:lr*0.5"})), 0);
  const ProcessResult drilled =
      Drill({"--certificate", "day/certificate.json", "--env", "JITTER=0.0001", "--reruns", "2"});
  EXPECT_THAT(drilled.stdout_text, HasSubstr("does not hold"));
  EXPECT_THAT(drilled.stdout_text, Not(HasSubstr("would have been found")));
  EXPECT_THAT(Read(At("out/report.html")), Not(HasSubstr("would have been found")));
  Write("day/certificate.json", "{\"schema\": \"rharness.sensitivity/v2\"}");
  const ProcessResult newer = Run({kRharness, "drill", "--history", "runs.db", "--out", "other",
                                   "--certificate", "day/certificate.json"});
  EXPECT_EQ(ExitOf(newer), 2) << newer.stderr_text;
  EXPECT_FALSE(fs::exists(At("other")));
}

TEST_F(GamedayProgram, OfTooFewRunsItSaysHowManyMoreAndCertifiesNothing) {
  RecordSeeds(3);
  const ProcessResult result = Plant({"hyperparameter:lr*0.5"});
  EXPECT_EQ(ExitOf(result), 3) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("Too few trials for a certificate"));
  EXPECT_THAT(result.stdout_text, HasSubstr("Record 8 more runs of tiny"));
  EXPECT_EQ(RateOf("hyperparameter:lr*0.5").more, 8);
  EXPECT_FALSE(fs::exists(At("day/certificate.json")));
}

TEST_F(GamedayProgram, WhatCannotBePlantedIsNamedWithTheReason) {
  RecordSeeds(1);
  const ProcessResult result =
      Plant({"hyperparameter:warmup*0.5", "tensor:bit", "metric:accuracy+2sd", "data:other=row"});
  EXPECT_EQ(ExitOf(result), 3) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(RateOf("hyperparameter:warmup*0.5").cannot, HasSubstr("no such hyperparameter"));
  EXPECT_THAT(RateOf("tensor:bit").cannot, HasSubstr("no checkpoint"));
  EXPECT_THAT(RateOf("metric:accuracy+2sd").cannot, HasSubstr("0 other runs"));
  EXPECT_THAT(RateOf("data:other=row").cannot, HasSubstr("no such data"));
}

// An option that the command refuses would be found always, and say nothing.
TEST_F(GamedayProgram, ARunThatFailsWithAFaultIsNoTrialOfIt) {
  Write("train.sh", std::string("[ \"$3\" = 0.1 ] || exit 2\n") + kLearner);
  RecordSeeds(3);
  const ProcessResult day = Plant({"argument:--lr=0.3"});
  EXPECT_EQ(day.outcome.exit_code, 3) << day.stdout_text << day.stderr_text;
  const SensitivityRate rate = RateOf("argument:--lr=0.3");
  EXPECT_EQ(rate.trials, 0);
  EXPECT_EQ(rate.found, 0);
  EXPECT_EQ(rate.not_made, 3);
  EXPECT_THAT(rate.cannot, HasSubstr("the run fails with it"));
  EXPECT_FALSE(fs::exists(At("day/certificate.json")));
}

TEST_F(GamedayProgram, NothingIsPlantedInARunThatFailsAsItIs) {
  RecordSeeds(2);
  environment_["PATH"] = At("bin").string() + ":" + environment_["PATH"];
  fs::create_directories(At("bin"));
  Write("bin/awk", "#!/bin/sh\nexit 7\n");
  fs::permissions(At("bin/awk"), fs::perms::owner_all);
  const ProcessResult result = Plant({"hyperparameter:lr*0.5"});
  EXPECT_EQ(ExitOf(result), 3) << result.stdout_text << result.stderr_text;
  EXPECT_EQ(RateOf("hyperparameter:lr*0.5").trials, 0);
  EXPECT_EQ(RateOf("as_recorded").found, 2);
  EXPECT_THAT(result.stdout_text, HasSubstr("does not reproduce unchanged"));
}

TEST_F(GamedayProgram, GoesOnAfterBeingKilledAndComesToTheSame) {
  RecordSeeds(3);
  ASSERT_EQ(ExitOf(Plant({"hyperparameter:lr*0.5"})), 3);
  const auto whole = Calls();
  const SensitivityRate rate = RateOf("hyperparameter:lr*0.5");
  for (const std::ptrdiff_t call : {std::ptrdiff_t{1}, whole / 2, whole}) {
    fs::remove_all(At("day"));
    fs::remove(At("calls"));
    Write("kill_at", std::to_string(call));
    const ProcessResult killed = Plant({"hyperparameter:lr*0.5"}, {"--jobs", "1"});
    ASSERT_EQ(killed.outcome.kind, OutcomeKind::kSignalled) << killed.stderr_text;
    EXPECT_EQ(ExitOf(Gameday({"--resume", "--out", "day", "--fault", "seed:lost"})), 2);
    const ProcessResult resumed = Gameday({"--resume", "--out", "day"});
    ASSERT_EQ(ExitOf(resumed), 3) << resumed.stdout_text << resumed.stderr_text;
    EXPECT_EQ(Calls(), whole + 1) << "the rerun that was killed is done again, and no other";
    EXPECT_EQ(RateOf("hyperparameter:lr*0.5").found, rate.found);
    EXPECT_EQ(RateOf("hyperparameter:lr*0.5").trials, rate.trials);
  }
}

TEST_F(GamedayProgram, APlanTouchesNothingAndTellsTheCost) {
  RecordSeeds(2);
  const ProcessResult result = Plant({"hyperparameter:lr*0.5"}, {"--dry-run"});
  EXPECT_EQ(ExitOf(result), 0) << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("6 reruns in all"));
  EXPECT_EQ(Calls(), 0);
  EXPECT_FALSE(fs::exists(At("day")));
}

TEST_F(GamedayProgram, NamesOfStrangersAreText) {
  RecordSeeds(1);
  const ProcessResult result = Plant({"env:A=<script>alert(1)</script>\x1b[31m"});
  EXPECT_EQ(ExitOf(result), 3) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(Read(At("day/gameday.html")), Not(HasSubstr("<script")));
  EXPECT_THAT(Read(At("day/gameday.html")), HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(result.stdout_text, Not(HasSubstr("\x1b[31m")));
}

TEST_F(GamedayProgram, SlipsOfThePenAreRefusedBeforeAnythingIsMade) {
  RecordSeeds(1);
  EXPECT_EQ(ExitOf(Plant({"hyperparameter:lr"})), 2);
  EXPECT_EQ(ExitOf(Plant({"seed:lost", "seed:lost"})), 2);
  EXPECT_EQ(ExitOf(Plant({})), 2);
  EXPECT_EQ(ExitOf(Plant({"seed:lost"}, {"--select", "family = other"})), 2);
  EXPECT_EQ(ExitOf(Plant({"seed:lost"}, {"--map", "/nowhere=/data"})), 2);
  EXPECT_EQ(ExitOf(Gameday({"--resume", "--out", "day"})), 2);
  EXPECT_FALSE(fs::exists(At("day")));
  EXPECT_EQ(Calls(), 0);
}

// Real training, real checkpoints: every bit that is planted in a run that promises bits is found.
TEST_F(GamedayProgram, FindsEveryBitInTheShippedHistory) {
  environment_["PATH"] = std::string(RHARNESS_BIN_DIR) + ":" + environment_["PATH"];
  const std::string root = RHARNESS_SOURCE_DIR;
  ASSERT_TRUE(Run({kRharness, "--quiet", "history", "add", "--history", "shipped.db",
                   root + "/scenarios/digits_portable/history"})
                  .outcome.Succeeded());
  const ProcessResult result =
      Gameday({"--history", "shipped.db", "--root", root, "--out", "day", "--no-default-faults",
               "--fault", "tensor:bit", "--fault", "tensor:bf16", "--fault",
               "curve:train_loss*1.001", "--fault", "seed:lost", "--width", "80"});
  ASSERT_EQ(ExitOf(result), 0) << result.stdout_text << result.stderr_text;
  for (const char* fault : {"tensor:bit", "tensor:bf16", "curve:train_loss*1.001", "seed:lost"}) {
    EXPECT_EQ(RateOf(fault).found, 3) << fault;
    EXPECT_EQ(RateOf(fault).trials, 3) << fault;
  }
  EXPECT_EQ(RateOf("as_recorded").found, 0);
  EXPECT_EQ(RateOf("same").equal, 3);
  EXPECT_FALSE(fs::exists(At("day/planted/checkpoints")));
}

}  // namespace
}  // namespace rharness
