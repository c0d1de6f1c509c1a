// `rharness incident` over a shipped family: a real training program with a planted fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr char kTrainer[] = RHARNESS_BIN_DIR "/digits_portable";

class ShippedIncident : public DrillProgram {
 protected:
  void SetUp() override {
    environment_["PATH"] = At("stand").string() + ":" RHARNESS_BIN_DIR ":" + environment_["PATH"];
    const ProcessResult added = Run({kRharness, "--quiet", "history", "add", "--history", "runs.db",
                                     RHARNESS_SOURCE_DIR "/scenarios/digits_portable/history"});
    ASSERT_TRUE(added.outcome.Succeeded()) << added.stderr_text;
    ASSERT_EQ(DrillInto("first", "family = digits_portable"), 0);
    // From now on the seed of the third run is not passed on.
    Write("stand/digits_portable", std::string("#!/bin/sh\ncase \"$*\" in\n*'--seed 3') exec ") +
                                       kTrainer + " \"$@\" --plant seed-not-propagated ;;\nesac\n" +
                                       "exec " + kTrainer + " \"$@\"\n");
    fs::permissions(At("stand/digits_portable"), fs::perms::owner_all);
    ASSERT_EQ(DrillInto("second", "run_id = digits_portable-03"), 1);
  }
  int DrillInto(const std::string& out, const std::string& selection) const {
    return Run({kRharness, "--quiet", "drill", "--history", "runs.db", "--out", out, "--select",
                selection, "--root", RHARNESS_SOURCE_DIR})
        .outcome.exit_code;
  }
  ProcessResult IncidentInto(const std::string& out, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {kRharness, "incident", "digits_portable-03", "--history", "runs.db",
                               "--root", RHARNESS_SOURCE_DIR, "--out", out});
    return Run(std::move(more));
  }
  Json Told(const std::string& out) const {
    auto json = ReadJsonFile(At(out + "/incident.json"));
    EXPECT_TRUE(json.ok()) << json.error().ToString();
    return json.ok() ? std::move(*json) : Json();
  }
};

TEST_F(ShippedIncident, GoesBackToTheRunBeforeTheOneWhoseSeedIsNotPassedOn) {
  const ProcessResult result = IncidentInto("inc");
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  const Json told = Told("inc");
  EXPECT_EQ(told.Find("run")->Find("verdict")->AsString(), "drifted");
  EXPECT_EQ(told.Find("good")->Find("run_id")->AsString(), "digits_portable-02");
  EXPECT_EQ(told.Find("rollback")->Find("verdict")->AsString(), "identical");
  EXPECT_THAT(told.Find("headline")->AsString(), HasSubstr("its 1 checkpoint file is as recorded"));
  EXPECT_THAT(told.Find("answers")->Dump(), HasSubstr("determinism_violation"));
  EXPECT_THAT(told.Find("comparison")->Dump(), HasSubstr("seed"));  // between 02 and 03
  EXPECT_TRUE(fs::exists(At("inc/runbook/determinism_violation.html")));
  // Nothing that is recorded differs: there is nothing to isolate.
  const std::string next = told.Find("next")->AsString();
  EXPECT_THAT(next, HasSubstr("rharness drill --history runs.db --root " RHARNESS_SOURCE_DIR
                              " --select 'run_id = digits_portable-03' --reruns 5"));
  EXPECT_THAT(next, HasSubstr("rharness compare --trace inc/manifests/run.json"));
  EXPECT_THAT(told.Find("answers")->Dump(), HasSubstr("their seeds alone differ"));
}

TEST_F(ShippedIncident, SaysSoWhereTheFilesThatAreNamedAreOfNoGoodRun) {
  Write("elsewhere/model.safetensors", "another file");
  const ProcessResult result = IncidentInto("inc", {"--no-rerun", "--artifacts", "elsewhere"});
  EXPECT_EQ(result.outcome.exit_code, 5) << result.stdout_text << result.stderr_text;
  EXPECT_EQ(Told("inc").Find("good")->Find("run_id")->AsString(), "digits_portable-02");
  EXPECT_THAT(Told("inc").Find("notes")->Dump(), HasSubstr("of none of the 2 good runs"));
  EXPECT_EQ(IncidentInto("none", {"--no-rerun", "--artifacts", "nowhere"}).outcome.exit_code, 2);
}

TEST_F(ShippedIncident, RerunsNothingWhereNoFileOfAGoodRunIsFoundAndNoRootIsGiven) {
  const ProcessResult result =
      Run({kRharness, "incident", "digits_portable-03", "--history", "runs.db", "--out", "inc"});
  EXPECT_EQ(result.outcome.exit_code, 3) << result.stdout_text << result.stderr_text;
  const Json told = Told("inc");
  const std::string headline = told.Find("headline")->AsString();
  EXPECT_THAT(headline, HasSubstr("checkpoint file was not found"));
  EXPECT_THAT(headline, HasSubstr("--root is the folder of recorded paths"));
  EXPECT_THAT(headline, HasSubstr(At("").string()));  // where it looked
  EXPECT_THAT(told.Find("next")->AsString(), HasSubstr("--root DIR --out OTHER"));
  EXPECT_EQ(told.Find("rollback")->Find("state")->AsString(), "not_run");
  EXPECT_THAT(
      Run({kRharness, "history", "show", "--history", "runs.db", "digits_portable-02"}).stdout_text,
      Not(HasSubstr("rollback")));
}

TEST_F(ShippedIncident, SaysFirstThatARunIsNotBad) {
  const ProcessResult result =
      Run({kRharness, "incident", "digits_portable-02", "--history", "runs.db", "--root",
           RHARNESS_SOURCE_DIR, "--no-rerun", "--out", "inc"});
  EXPECT_EQ(result.outcome.exit_code, 3) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(
      Told("inc").Find("headline")->AsString(),
      HasSubstr("digits_portable-02 is not bad: its last verdict is identical; nothing went bad"));
  EXPECT_THAT(Told("inc").Find("next")->AsString(), HasSubstr("nothing to do"));
}

}  // namespace
}  // namespace rharness
