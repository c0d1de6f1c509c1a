// `rharness isolate` as a program: planted causes of every kind, interruptions, hostile axes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/digest.h"
#include "tests/cli/isolate_program.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST_F(IsolateProgram, NamesTheOneOfManyVariablesThatMakesTheRunDrift) {
  RecordAs("then", {{"A", "0"}});
  RecordAs("now", {{"A", "1"},
                   {"B", "two words"},
                   {"BAD", "1"},
                   {"C", ""},
                   {"D", "x\ny"},
                   {"OMP_NUM_THREADS", "3"}});
  const ProcessResult result = Against();
  ASSERT_EQ(ExitOf(result), 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(Cause(), ElementsAre("env:BAD: (unset) -> 1"));
  EXPECT_LE(Calls(), 3 + 4);
  EXPECT_EQ(Text("reruns"), std::to_string(Calls()));
  EXPECT_EQ(Text("mitigation"), "env:BAD = (unset)");
  EXPECT_THAT(Text("mitigation_cost"), HasSubstr("s a run"));
  EXPECT_THAT(Text("difference"), HasSubstr("metric accuracy down by 0.25"));
  EXPECT_THAT(Text("shown_by"), HasSubstr("the cause alone: metric accuracy down by 0.25"));
  EXPECT_THAT(result.stdout_text, HasSubstr("env:BAD: (unset) -> 1 makes run drift"));
  const std::string page = Read(At("why/isolation.html"));
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST_F(IsolateProgram, NamesTwoThatAreNeededTogetherAndWhichToTakeBack) {
  RecordAs("then", {});
  RecordAs("now", {{"A", "1"}, {"TWO_A", "1"}, {"B", "1"}, {"C", "1"}, {"TWO_B", "1"}});
  const ProcessResult result = Against({"--parallel", "2"});
  ASSERT_EQ(ExitOf(result), 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(Cause(),
              testing::UnorderedElementsAre("env:TWO_A: (unset) -> 1", "env:TWO_B: (unset) -> 1"));
  EXPECT_THAT(Text("mitigation"), testing::AnyOf("env:TWO_A = (unset)", "env:TWO_B = (unset)"));
}

TEST_F(IsolateProgram, NamesAChangeOfTheData) {
  RecordAs("then", {});
  Write("other", "0.5");
  const std::string digest = HashFile(At("other"))->sha256;
  const ProcessResult result =
      IsolateRun({"runs/then.json", "--axis", "data:value=" + digest + "@other", "--axis",
                  "env:HARMLESS=1", "--axis", "cpus:2", "--out", "why"});
  ASSERT_EQ(ExitOf(result), 0) << result.stdout_text << result.stderr_text;
  ASSERT_EQ(Cause().size(), 1U);
  EXPECT_THAT(Cause().front(), HasSubstr("data:value: "));
  EXPECT_THAT(Text("mitigation"), HasSubstr("data:value = "));
}

TEST_F(IsolateProgram, HoldsStillWhatCannotBeHadAnyMoreAndSaysSo) {
  RecordAs("then", {});
  Write("value", "0.740");
  RecordAs("now", {{"A", "1"}, {"BAD", "1"}});
  // What was recorded is written over: data stay as they are now in all trials.
  const ProcessResult result = Against();
  ASSERT_EQ(ExitOf(result), 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(Cause(), ElementsAre("env:BAD: (unset) -> 1"));
  EXPECT_THAT(Text("axes"), HasSubstr("the recorded one is not available"));
  EXPECT_EQ(ExitOf(IsolateRun({"runs/then.json", "--axis", "data:value=" + std::string(64, 'a'),
                               "--out", "else"})),
            2);
}

TEST_F(IsolateProgram, TakesAnotherFailureForNoEvidence) {
  RecordAs("then", {});
  RecordAs("now", {{"A", "1"}, {"CRASH", "1"}, {"OTHER", "1"}, {"Z_BAD", "1"}, {"ZZ_MEND", "1"}});
  const ProcessResult result = Against();
  ASSERT_EQ(ExitOf(result), 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(Cause(), ElementsAre("env:Z_BAD: (unset) -> 1"));
  EXPECT_THAT(Text("other_failures"), HasSubstr("exited with 7"));
  EXPECT_THAT(Text("other_failures"), HasSubstr("metric accuracy up by 0.24"));
}

TEST_F(IsolateProgram, SaysThatNoneOfTheChangesIsTheCause) {
  RecordAs("then", {});
  const ProcessResult result =
      IsolateRun({"runs/then.json", "--axis", "env:A=1", "--axis", "env:B=1", "--out", "why"});
  EXPECT_EQ(ExitOf(result), 3) << result.stdout_text;
  EXPECT_EQ(Text("end"), "not_reproduced");
  EXPECT_EQ(Calls(), 1);
  // Something outside of the record changed: nothing of it is set, and the run drifts.
  fs::remove_all(At("why"));
  Write("train.sh",
        std::string(kTrainer) + "printf '{\"metrics\": {\"accuracy\": 0.1}}' > metrics.json\n");
  const std::string digest = HashFile(At("train.sh"))->sha256;
  std::string manifest = Read(At("runs/then.json"));
  const auto at = manifest.find("\"sha256\"", manifest.find("\"files\""));
  const auto begin = manifest.find('"', manifest.find(':', at)) + 1;
  manifest.replace(begin, 64, digest);
  Write("runs/then.json", manifest);
  const ProcessResult outside =
      IsolateRun({"runs/then.json", "--axis", "env:A=1", "--axis", "env:B=1", "--out", "why"});
  EXPECT_EQ(ExitOf(outside), 3) << outside.stdout_text << outside.stderr_text;
  EXPECT_EQ(Text("end"), "not_among_these");
}

TEST_F(IsolateProgram, RerunsNothingWhereBothRecordsHaveTheSameResults) {
  RecordAs("then", {});
  RecordAs("now", {{"A", "1"}, {"B", "1"}});
  const ProcessResult result = Against();
  EXPECT_EQ(ExitOf(result), 2) << result.stdout_text;
  EXPECT_THAT(result.stderr_text, HasSubstr("nothing drifted"));
  EXPECT_EQ(Calls(), 0);
}

TEST_F(IsolateProgram, TellsNoObstacleAsTheDifference) {
  RecordAs("then", {});
  RecordAs("now", {{"A", "1"}, {"BAD", "1"}});
  fs::remove(At("train.sh"));
  const ProcessResult result = Against();
  EXPECT_EQ(ExitOf(result), 3) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(Text("headline"), HasSubstr("train.sh"));
  EXPECT_EQ(Text("difference"), "[]");
}

TEST_F(IsolateProgram, GoesOnAfterBeingKilledInAnyRerun) {
  RecordAs("then", {});
  RecordAs("now", {{"A", "1"}, {"B", "1"}, {"BAD", "1"}, {"C", "1"}, {"D", "1"}});
  ASSERT_EQ(ExitOf(Against()), 0);
  const auto whole = Calls();
  const std::string trials = Found().Find("trials")->Dump();
  ASSERT_GE(whole, 5);
  for (std::ptrdiff_t call = 1; call <= whole; ++call) {
    fs::remove_all(At("why"));
    fs::remove(At("calls"));
    Write("kill_at", std::to_string(call));
    const ProcessResult killed = Against();
    ASSERT_EQ(killed.outcome.kind, OutcomeKind::kSignalled) << killed.stderr_text;
    const ProcessResult resumed = IsolateRun({"--resume", "--out", "why"});
    ASSERT_EQ(ExitOf(resumed), 0) << resumed.stdout_text << resumed.stderr_text;
    EXPECT_THAT(Cause(), ElementsAre("env:BAD: (unset) -> 1"));
    EXPECT_EQ(Calls(), whole + 1) << "the rerun that was killed is done again, and no other";
  }
  EXPECT_EQ(Found().Find("trials")->AsArray().size(), static_cast<std::size_t>(whole));
}

TEST_F(IsolateProgram, StopsAtItsBudgetAndGoesOnWithALargerOne) {
  RecordAs("then", {});
  RecordAs("now", {{"A", "1"}, {"B", "1"}, {"BAD", "1"}, {"C", "1"}, {"D", "1"}, {"E", "1"}});
  const ProcessResult stopped = Against({"--budget-reruns", "3"});
  EXPECT_EQ(ExitOf(stopped), 3);
  EXPECT_THAT(stopped.stdout_text, HasSubstr("not decidable with this budget"));
  EXPECT_EQ(Calls(), 3);
  EXPECT_EQ(ExitOf(IsolateRun({"--resume", "--out", "why", "--against", "runs/now.json"})), 2);
  const ProcessResult more = IsolateRun({"--resume", "--out", "why", "--budget-reruns", "20"});
  EXPECT_EQ(ExitOf(more), 0) << more.stdout_text << more.stderr_text;
  EXPECT_THAT(Cause(), ElementsAre("env:BAD: (unset) -> 1"));
  EXPECT_EQ(Text("reruns"), std::to_string(Calls()));
}

TEST_F(IsolateProgram, AsksNoisyRunsAgainUntilItIsSure) {
  RecordAs("then", {{"NOISE", "1"}}, "statistical");
  RecordAs("now", {{"NOISE", "1"}, {"A", "1"}, {"BAD", "1"}, {"B", "1"}}, "statistical");
  const ProcessResult result = Against({"--jobs", "1"});
  ASSERT_EQ(ExitOf(result), 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(Cause(), ElementsAre("env:BAD: (unset) -> 1"));
  EXPECT_EQ(Text("exact"), "false");
  EXPECT_GE(Calls(), 6 + 4);
  EXPECT_THAT(result.stdout_text, HasSubstr("the chance that a wrong cause is named"));
}

TEST_F(IsolateProgram, OfARunThatPromisesNothingAndRepeatsAllTheSameOneRerunTells) {
  RecordAs("then", {}, "statistical");
  RecordAs("now", {{"A", "1"}, {"BAD", "1"}, {"B", "1"}}, "statistical");
  ASSERT_EQ(ExitOf(Against({"--end-reruns", "2"})), 0);
  EXPECT_THAT(Cause(), ElementsAre("env:BAD: (unset) -> 1"));
  EXPECT_EQ(Text("exact"), "true");
}

TEST_F(IsolateProgram, TakesTheDriftedSideFromADrill) {
  RecordAs("then", {});
  const ProcessResult added =
      Run({kRharness, "--quiet", "history", "add", "--force", "--history", "runs.db", "runs"});
  ASSERT_TRUE(added.outcome.Succeeded()) << added.stderr_text;
  const ProcessResult drill = Run({kRharness, "drill", "--history", "runs.db", "--out", "tonight",
                                   "--env", "BAD=1", "--env", "OMP_NUM_THREADS=2"});
  ASSERT_EQ(ExitOf(drill), 1) << drill.stdout_text << drill.stderr_text;
  const ProcessResult result = IsolateRun({"run", "--history", "runs.db", "--against", "tonight",
                                           "--axis", "env:BAD=1", "--out", "why"});
  ASSERT_EQ(ExitOf(result), 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(Cause(), ElementsAre("env:BAD: (unset) -> 1"));
}

TEST_F(IsolateProgram, SaysWhatKeptTheRerunFromBeingCarriedOut) {
  RecordAs("then", {});
  ASSERT_TRUE(
      Run({kRharness, "--quiet", "history", "add", "--force", "--history", "runs.db", "runs"})
          .outcome.Succeeded());
  Write("value", "0.740");  // the data that it reads, written over
  const ProcessResult drill = Run({kRharness, "drill", "--history", "runs.db", "--out", "tonight"});
  ASSERT_EQ(ExitOf(drill), 3) << drill.stdout_text << drill.stderr_text;
  const ProcessResult result =
      IsolateRun({"run", "--history", "runs.db", "--against", "tonight", "--out", "why"});
  EXPECT_EQ(ExitOf(result), 2) << result.stdout_text;
  EXPECT_THAT(result.stderr_text, HasSubstr("was not carried out: "));
  EXPECT_THAT(result.stderr_text, HasSubstr("data 'value' is not the recorded one"));
  EXPECT_THAT(result.stderr_text, HasSubstr("--axis data:NAME=SHA256@LOCATION"));
}

// Twelve commits, of which one does not run and those from the eighth on train to something else.
class CommitsProgram : public IsolateProgram {
 protected:
  void FindFirstBad(const std::vector<std::string>& recording) {
    const auto git = [&](std::vector<std::string> words) {
      words.insert(words.begin(), {"git", "-c", "user.name=t", "-c", "user.email=t@example.org"});
      const ProcessResult result = Run(words);
      EXPECT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
      return result.stdout_text.substr(0, result.stdout_text.find('\n'));
    };
    git({"init", "-q", "."});
    Write(".gitignore", "calls\nruns\nwhy\nkill_at\n");
    std::vector<std::string> commits;
    for (int i = 0; i < 12; ++i) {
      // Commit 5 does not run at all; from 7 on it trains to something else.
      Write("train.sh",
            std::string(i == 5 ? "exit 9\n" : "") + kTrainer + "# " + std::to_string(i) + "\n" +
                (i >= 7 ? "printf '{\"metrics\": {\"accuracy\": 0.3}}' > metrics.json\n" : ""));
      git({"add", "."});
      git({"commit", "-q", "-m", "step"});
      commits.push_back(git({"rev-parse", "HEAD"}));
    }
    git({"checkout", "-q", commits.front()});
    std::vector<std::string> record = {kRharness,
                                       "--quiet",
                                       "record",
                                       "--out",
                                       "runs/then.json",
                                       "--run-id",
                                       "run",
                                       "--family",
                                       "tiny",
                                       "--root",
                                       ".",
                                       "--no-observe",
                                       "--determinism",
                                       "bitwise",
                                       "--data",
                                       "value",
                                       "--metrics",
                                       "metrics.json",
                                       "--metric",
                                       "accuracy,direction=higher,margin=0.01,primary"};
    record.insert(record.end(), recording.begin(), recording.end());
    record.insert(record.end(), {"--", "sh", "train.sh", At("").string()});
    const ProcessResult recorded = Run(record);
    ASSERT_TRUE(recorded.outcome.Succeeded()) << recorded.stderr_text;
    fs::remove(At("calls"));
    git({"checkout", "-q", commits.back()});
    const ProcessResult result =
        IsolateRun({"runs/then.json", "--axis", "env:A=1", "--axis",
                    "commit:" + commits.front() + ".." + commits.back(), "--out", "why"});
    ASSERT_EQ(ExitOf(result), 0) << result.stdout_text << result.stderr_text;
    EXPECT_THAT(Cause(), ElementsAre("commit: " + commits[6] + " -> " + commits[7]));
    EXPECT_LE(Calls(), 4 + 4 + 2);
  }
};

TEST_F(CommitsProgram, AreSearchedForTheFirstBadOne) { FindFirstBad({}); }

// The work tree stands at the last of them, and has another file than the listed one.
TEST_F(CommitsProgram, AreSearchedWhereTheRecordListsItsCode) {
  FindFirstBad({"--code-file", "train.sh"});
}

}  // namespace
}  // namespace rharness
