// `--map FROM=TO` whose FROM nothing uses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

using testing::HasSubstr;
using testing::Not;

class UnusedMaps : public DrillProgram {
 protected:
  void SetUp() override {
    RecordRuns(1);
    std::filesystem::create_directories(At("copies"));
    std::filesystem::copy(At("value"), At("copies/value"));
  }
  void ExpectSlip(const ProcessResult& result, const std::string& map) const {
    EXPECT_EQ(result.outcome.exit_code, 2) << result.stderr_text;
    EXPECT_THAT(result.stderr_text, HasSubstr("--map: no "));
    EXPECT_THAT(result.stderr_text, HasSubstr(map));
    EXPECT_EQ(result.stdout_text, "");
    EXPECT_EQ(Calls(), 0) << "nothing runs";
  }
};

TEST_F(UnusedMaps, AreASlipBeforeAnythingRuns) {
  ExpectSlip(Drill({"--map", "valeu=copies/value"}), "valeu=");
  EXPECT_FALSE(std::filesystem::exists(At("out/journal.jsonl")));
  ExpectSlip(Drill({"--dry-run", "--map", "valeu=copies/value"}), "valeu=");
  // A name that only begins like the location, and a used one beside one that is not.
  ExpectSlip(Drill({"--map", "val=copies"}), "val=");
  const ProcessResult one = Drill({"--map", "value=copies/value", "--map", "/sets/v=copies"});
  ExpectSlip(one, "/sets/v=");
  EXPECT_THAT(one.stderr_text, Not(HasSubstr("value=")));
  const ProcessResult used = Drill({"--map", "value=copies/value"});
  EXPECT_EQ(used.outcome.exit_code, 0) << used.stderr_text;
  EXPECT_EQ(Calls(), 1);
}

TEST_F(UnusedMaps, AreNoSlipWhereAFolderIsMappedToItself) {
  const std::string copies = At("copies").string();
  const ProcessResult declared = Drill({"--map", copies + "=" + copies});
  EXPECT_EQ(declared.outcome.exit_code, 0) << declared.stderr_text;
  EXPECT_THAT(declared.stderr_text, Not(HasSubstr("--map")));
}

TEST_F(UnusedMaps, AreWarnedOfWhereOnlyOtherRunsOfTheHistoryUseThem) {
  Write("other", "0.75");
  Record("b", {"--data", "other"});
  const ProcessResult added =
      Run({kRharness, "history", "add", "--history", "runs.db", "runs/b.json"});
  ASSERT_EQ(added.outcome.exit_code, 0) << added.stderr_text;
  const ProcessResult drill = Drill({"--select", "run_id = a", "--map", "other=copies/value"});
  EXPECT_EQ(drill.outcome.exit_code, 0) << drill.stderr_text;
  EXPECT_THAT(drill.stderr_text, HasSubstr("warning: --map: no selected run locates "));
}

TEST_F(UnusedMaps, OfAProfileAreWarnedOf) {
  Write("policy.yaml", "version: 1\nprofiles:\n  nightly: {map: ['/sets=copies']}\n");
  const ProcessResult drill = Drill({"--policy", "policy.yaml", "--profile", "nightly"});
  EXPECT_EQ(drill.outcome.exit_code, 0) << drill.stderr_text;
  EXPECT_THAT(drill.stderr_text, HasSubstr("warning: --map: no selected run locates "));
  EXPECT_THAT(drill.stderr_text, HasSubstr("/sets="));
}

TEST_F(UnusedMaps, HaveTheirLikeInVariablesThatNoRunRecorded) {
  const ProcessResult typed = Drill({"--env", "OPM_NUM_THREADS=1", "--env", "OMP_NUM_THREADS=1"});
  EXPECT_EQ(typed.outcome.exit_code, 0) << typed.stderr_text;
  EXPECT_THAT(typed.stderr_text,
              HasSubstr("warning: --env: no selected run has recorded OPM_NUM_THREADS, set"));
}

TEST_F(UnusedMaps, AreASlipOfFetchAndCheckToo) {
  ExpectSlip(Run({kRharness, "fetch", "runs/a.json", "--cache", "cache", "--map", "valeu=copies"}),
             "valeu=");
  ExpectSlip(Run({kRharness, "check", "--available", "runs/a.json", "--map", "valeu=copies"}),
             "valeu=");
  const ProcessResult history =
      Run({kRharness, "check", "--available", "--history", "runs.db", "--map", "valeu=copies"});
  EXPECT_NE(history.outcome.exit_code, 2) << "which asks what a selection needs";
  EXPECT_THAT(history.stderr_text, HasSubstr("warning: --map: no selected run locates "));
}

}  // namespace
}  // namespace rharness
