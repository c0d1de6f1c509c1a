// The drill night after night: who is drilled within a budget, what is kept of each night.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/history/store.h"
#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

class DrillNights : public DrillProgram {
 protected:
  // Every recorded run takes a second, as far as its record says.
  void RecordRunsOfASecond(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      Record(name, {});
      Json json = ReadJsonFile(At("runs/" + name + ".json")).value();
      json.Set("duration_seconds", 1.0);
      Write("runs/" + name + ".json", json.Dump());
    }
    Add();
  }
  // The runs that a drill into this folder judged.
  std::set<std::string> Night(const std::string& out, const std::vector<std::string>& options,
                              int exit_code) {
    std::vector<std::string> argv = {kRharness, "--quiet", "drill",   "--history",
                                     "runs.db", "--out",   "n/" + out};
    argv.insert(argv.end(), options.begin(), options.end());
    const ProcessResult result = Run(argv);
    EXPECT_EQ(result.outcome.exit_code, exit_code) << result.stderr_text << result.stdout_text;
    const Json json = ReadJsonFile(At("n/" + out + "/report.json")).value();
    std::set<std::string> runs;
    for (const Json& run : json.Find("runs")->AsArray())
      runs.insert(run.Find("run_id")->AsString());
    return runs;
  }
  Json Show(const std::string& name) {
    const ProcessResult result =
        Run({kRharness, "history", "show", name, "--history", "runs.db", "--json"});
    EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
    return ParseJson(result.stdout_text, "stdout").value();
  }
};

TEST_F(DrillNights, WithinABudgetGoRoundTheHistory) {
  RecordRunsOfASecond(7);
  std::map<std::string, int> drilled;
  for (int night = 1; night <= 3; ++night) {
    // Two and a half seconds: two runs a night.
    const auto runs = Night(std::to_string(night), {"--budget", "0.000694h"}, 3);
    EXPECT_EQ(runs.size(), 2u) << "night " << night;
    for (const std::string& run : runs) EXPECT_EQ(++drilled[run], 1) << run;
  }
  const auto last = Night("4", {"--budget", "0.000694h", "--seed", "9"}, 3);
  for (const std::string& run : last) ++drilled[run];
  EXPECT_EQ(drilled.size(), 7u);  // all of them, after four nights
}

TEST_F(DrillNights, SampleTheLongestWaiting) {
  RecordRunsOfASecond(4);
  std::set<std::string> drilled = Night("1", {"--sample", "2"}, 0);
  EXPECT_EQ(drilled.size(), 2u);
  drilled.merge(Night("2", {"--sample", "2", "--seed", "5"}, 0));
  EXPECT_EQ(drilled.size(), 4u);
}

TEST_F(DrillNights, SayInThePlanWhoComesFirst) {
  RecordRunsOfASecond(3);
  const auto plan = [&](std::vector<std::string> options) {
    options.insert(options.begin(), "--dry-run");
    return Drill(options).stdout_text;
  };
  EXPECT_NE(plan({"--budget", "0.0005h"}).find("waited longest for a drill come first"),
            std::string::npos);
  EXPECT_EQ(plan({}).find("waited longest"), std::string::npos);
}

TEST_F(DrillNights, TakeTheRiskiestFirstAndSayWhy) {
  RecordRunsOfASecond(4);
  Night("1", {"--order", "risk", "--sample", "3"}, 0);
  Write("p.yaml", "version: 1\nstakes:\n  - {runs: run_id = c, stake: 1000}\n");
  const std::vector<std::string> by_risk = {"--policy", "p.yaml",   "--order",
                                            "risk",     "--sample", "1"};
  // Whether c was among the first three or not: a thousandfold stake outweighs a second's age.
  const ProcessResult dry = [&] {
    std::vector<std::string> options = by_risk;
    options.insert(options.end(), {"--dry-run", "--json"});
    return Drill(options);
  }();
  ASSERT_EQ(dry.outcome.exit_code, 0) << dry.stderr_text;
  const Json plan = ParseJson(dry.stdout_text, "stdout").value();
  EXPECT_EQ(plan.Find("order")->AsString(), "riskiest_first");
  ASSERT_EQ(plan.Find("risks")->AsArray().size(), 1u);
  const Json& risk = plan.Find("risks")->AsArray().front();
  EXPECT_EQ(risk.Find("run_id")->AsString(), "c");
  EXPECT_EQ(risk.Find("stake")->ToDouble(), 1000.0);
  EXPECT_EQ(risk.Find("stake_of")->AsString(), "run_id = c (p.yaml:3)");
  EXPECT_EQ(Night("2", by_risk, 0), std::set<std::string>{"c"});
  const Json kept = ReadJsonFile(At("n/2/plan.json")).value();
  EXPECT_EQ(kept.Find("risks")->AsArray().front().Find("run_id")->AsString(), "c");
  // Just verified on this very machine: nothing is in doubt.
  const Json after =
      ParseJson(
          Drill({"--order", "risk", "--select", "run_id = c", "--dry-run", "--json"}).stdout_text,
          "stdout")
          .value();
  EXPECT_EQ(after.Find("risks")->AsArray().front().Find("doubt")->ToDouble(), 1.0) << after.Dump(2);
}

TEST_F(DrillNights, RefuseAStakeThatIsNoSelection) {
  RecordRunsOfASecond(1);
  Write("p.yaml", "version: 1\nstakes:\n  - {runs: famly = c, stake: 10}\n");
  const ProcessResult result = Drill({"--policy", "p.yaml", "--order", "risk"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_NE(result.stderr_text.find("p.yaml:3"), std::string::npos) << result.stderr_text;
  EXPECT_FALSE(std::filesystem::exists(At("out")));
  EXPECT_EQ(Run({kRharness, "policy", "check", "p.yaml"}).outcome.exit_code, 2);
}

TEST_F(DrillNights, TellTheLastSuccessOfTheHistoryAfterAFailingNight) {
  RecordRunsOfASecond(1);
  Night("good", {}, 0);
  const std::string name = "\nrharness_last_success_timestamp_seconds{history=\"" +
                           std::filesystem::weakly_canonical(At("runs.db")).string() + "\"} ";
  const auto value = [&](const std::string& night) {
    const std::string text = Read(At("n/" + night + "/metrics.prom"));
    const auto at = text.find(name);
    EXPECT_NE(at, text.npos) << text;
    return at == text.npos
               ? ""
               : text.substr(at + name.size(), text.find('\n', at + 1) - at - name.size());
  };
  EXPECT_NE(value("good"), "0");
  Write("train.sh", "exit 1\n");  // another program: not comparable
  Night("bad", {}, 3);
  EXPECT_EQ(value("bad"), value("good"));
}

TEST_F(DrillNights, KeepWhatChangedBetweenTheLastGoodAndTheFirstBadNight) {
  Write("train.sh",
        "if [ \"$OMP_NUM_THREADS\" = 7 ]; then exit 1; fi\n"
        "printf '{\"metrics\": {\"accuracy\": 0.75}}' > metrics.json\n");
  RecordRunsOfASecond(1);
  Night("1", {}, 0);
  Night("2", {"--env", "OMP_NUM_THREADS=7"}, 4);
  std::filesystem::remove_all(At("n"));  // the history knows without the drills' folders
  const Json run = Show("a");
  EXPECT_EQ(run.Find("first_bad")->Find("verdict")->AsString(), "failed");
  ASSERT_EQ(run.Find("changes")->AsArray().size(), 1u);
  const auto& sentences = run.Find("changes")->AsArray().front().Find("sentences")->AsArray();
  ASSERT_EQ(sentences.size(), 1u);
  EXPECT_EQ(sentences[0].AsString(), "environment: OMP_NUM_THREADS was not set and is 7 now");
  EXPECT_FALSE(run.Find("steadiness")->Find("flaky")->AsBool());
  EXPECT_EQ(Show("tiny").Find("causes")->AsArray().front().Find("broken_runs")->ToInt64(), 1);
}

TEST_F(DrillNights, CallARunFlakyThatFailsWhileNothingElseChanges) {
  Write("train.sh",
        "if [ -e \"$1/broken\" ]; then exit 1; fi\n"
        "printf '{\"metrics\": {\"accuracy\": 0.75}}' > metrics.json\n");
  RecordRunsOfASecond(1);
  Night("1", {}, 0);
  Write("broken", "");
  Night("2", {}, 4);
  std::filesystem::remove(At("broken"));
  Night("3", {}, 0);
  const Json steadiness = *Show("a").Find("steadiness");
  EXPECT_TRUE(steadiness.Find("flaky")->AsBool());
  EXPECT_EQ(steadiness.Find("unexplained")->ToInt64(), 2);
  EXPECT_EQ(Show("tiny").Find("flaky")->ToInt64(), 1);
}

TEST_F(DrillNights, KeepWhatAFamilyCameToTogether) {
  Write("train.sh",
        "if [ \"$OMP_NUM_THREADS\" = 7 ]; then value=0.65; else value=0.75; fi\n"
        "printf '{\"metrics\": {\"accuracy\": %s}}' $value > metrics.json\n");
  for (const char* seed : {"1", "2", "3", "4"}) {
    Record(std::string("r") + seed, {"--seed", std::string("shuffle=") + seed});
  }
  Add();
  Night("1", {}, 0);
  Night("2", {"--env", "OMP_NUM_THREADS=7"}, 1);
  std::filesystem::remove_all(At("n"));  // the history knows without the drills' folders
  const Json family = Show("tiny");
  const auto& together = family.Find("together")->AsArray();
  ASSERT_EQ(together.size(), 1u);
  const auto& said = together[0].Find("said")->AsArray();
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0].Find("verdict")->AsString(), "identical");
  EXPECT_EQ(said[1].Find("verdict")->AsString(), "drifted");
  EXPECT_EQ(said[1].Find("runs")->ToInt64(), 4);
  EXPECT_NE(said[1].Find("reasons")->Dump().find("accuracy moved by -0.1"), std::string::npos);
  const ProcessResult list = Run({kRharness, "history", "list", "--history", "runs.db", "--json"});
  const Json listed = ParseJson(list.stdout_text, "stdout").value();
  const auto& last = listed.Find("together")->AsArray();
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].Find("last")->Find("verdict")->AsString(), "drifted");
  EXPECT_EQ(listed.Find("runs")->AsArray().size(), 4u);
}

}  // namespace
}  // namespace rharness
