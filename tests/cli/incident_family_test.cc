// `rharness incident` over a family whose runs differ in their seeds and read one file of the site.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/incident_program.h"
#include "tests/cli/shared_file_program.h"

namespace rharness {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class IncidentOfAFamily : public SharedFileProgram {
 protected:
  ProcessResult IncidentOf(const std::string& run) const {
    return Run({kRharness, "incident", run, "--history", "runs.db", "--out", "inc"});
  }
  Json Told() const {
    auto json = ReadJsonFile(At("inc/incident.json"));
    EXPECT_TRUE(json.ok()) << json.error().ToString();
    return json.ok() ? std::move(*json) : Json();
  }
};

// The SHA-256 of "5" and of "6" by sha256sum.
constexpr char kSixToFive[] = " went from e7f6c011776e… to ef2d127de37b…";
constexpr char kFiveToSix[] = " went from ef2d127de37b… to e7f6c011776e…";

TEST_F(IncidentOfAFamily, HoldsARunThatNeverWasGoodToItsOwnRecordAndTakesNoSeedForACause) {
  RecordSeed("3");
  SetKernel("6");
  RecordSeed("7");
  SetKernel("5");
  Add();
  ASSERT_EQ(DrillInto("first", "run-3"), 0);
  ASSERT_EQ(DrillInto("second", "run-7"), 1);
  const ProcessResult result = IncidentOf("run-7");
  ASSERT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  const Json told = Told();
  EXPECT_EQ(told.Find("good")->Find("run_id")->AsString(), "run-3");
  const std::string next = told.Find("next")->AsString();
  EXPECT_THAT(next, HasSubstr("go back to run-3, then put back what changed (data: " + Kernel() +
                              kSixToFive + ")"));
  EXPECT_THAT(next, HasSubstr("rharness drill --history runs.db --select 'run_id = run-7'"));
  EXPECT_THAT(next, Not(HasSubstr("isolate run-3")));
  const std::string changed = Answer(told, "what_changed");
  EXPECT_THAT(changed, HasSubstr("beside its record"));
  EXPECT_THAT(changed, Not(HasSubstr("seed")));
  EXPECT_THAT(Answer(told, "prevent"), Not(HasSubstr("--python-hooks")));
  EXPECT_THAT(Answer(told, "prevent"), Not(HasSubstr("--code-file)")));
  EXPECT_THAT(Answer(told, "what_happened"), HasSubstr("it has a different seed"));
  EXPECT_THAT(told.Find("runbook")->Dump(), Not(HasSubstr("seed_changed")));
  // What reruns of both say of the comparison's facts is still there.
  EXPECT_THAT(told.Find("comparison")->Dump(), HasSubstr("seed.run"));
}

TEST_F(IncidentOfAFamily, SaysWhatToPutBackWhereOneChangeBrokeAllRuns) {
  for (const char* seed : {"3", "4", "7"}) RecordSeed(seed);
  Add();
  ASSERT_EQ(DrillInto("first", ""), 0);
  SetKernel("6");
  ASSERT_EQ(DrillInto("second", ""), 1);
  const ProcessResult result = IncidentOf("run-7");
  ASSERT_EQ(result.outcome.exit_code, 3) << result.stdout_text << result.stderr_text;
  const Json told = Told();
  const std::string next = told.Find("next")->AsString();
  EXPECT_THAT(next, HasSubstr("put back what changed (data: " + Kernel() + kFiveToSix + ")"));
  EXPECT_THAT(next, Not(HasSubstr("FOLDER")));
  EXPECT_THAT(Answer(told, "what_happened"),
              HasSubstr("2 of them broke together with run-7, in drill " + DrillId("second")));
  const std::string way = Answer(told, "way_back");
  EXPECT_THAT(way, HasSubstr(R"("known":true)"));
  EXPECT_THAT(way, HasSubstr("of 2 other runs 2 are bad"));
  EXPECT_THAT(way, HasSubstr(R"("not_known":"")"));
  EXPECT_THAT(Answer(told, "prevent"), HasSubstr("its paths begin in the folder where"));
}

TEST_F(IncidentOfAFamily, NamesTheDrillWhereSeveralChangesAreToBeSearched) {
  RecordSeed("3");
  Add();
  ASSERT_EQ(DrillInto("first", ""), 0);
  SetKernel("6");
  ASSERT_EQ(DrillInto("second", "", "1"), 1);
  ASSERT_EQ(IncidentOf("run-3").outcome.exit_code, 3);
  const std::string next = Told().Find("next")->AsString();
  EXPECT_THAT(next, HasSubstr("(and 1 more)"));
  const std::string command =
      "rharness isolate run-3 --history runs.db --against " + DrillId("second") + " --out why";
  ASSERT_THAT(next, HasSubstr(command));
  // As it is told, it runs.
  const ProcessResult isolated =
      Run({"sh", "-c", RHARNESS_BIN_DIR "/" + next.substr(next.find(command), command.size())});
  // The variable makes its part of it; what it leaves is of the file, which cannot be set.
  EXPECT_EQ(isolated.outcome.exit_code, 0) << isolated.stdout_text << isolated.stderr_text;
  EXPECT_THAT(FieldOf("why/isolation.json", "end"), "named");
  EXPECT_THAT(FieldOf("why/isolation.json", "next"),
              AllOf(HasSubstr("this is not all: with it set back"),
                    HasSubstr("1 thing differs and cannot be set here: input " + Kernel())));
}

TEST_F(IncidentOfAFamily, SaysThatTheRunIsRetired) {
  RecordSeed("3");
  RecordSeed("7");
  Add();
  ASSERT_EQ(DrillInto("first", ""), 0);
  ASSERT_EQ(DrillInto("second", "run-7", "1"), 1);
  ASSERT_TRUE(Run({kRharness, "history", "retire", "--history", "runs.db", "run-7", "--reason",
                   "its data is gone"})
                  .outcome.Succeeded());
  ASSERT_EQ(IncidentOf("run-7").outcome.exit_code, 0);
  const Json told = Told();
  EXPECT_THAT(told.Find("headline")->AsString(), testing::StartsWith("run-7 is retired. "));
  EXPECT_THAT(Answer(told, "what_happened"), HasSubstr("run-7 is retired: its data is gone"));
  EXPECT_THAT(told.Find("next")->AsString(), HasSubstr("there is nothing to do for run-7"));
}

}  // namespace
}  // namespace rharness
