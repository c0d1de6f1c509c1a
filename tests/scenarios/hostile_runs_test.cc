// Runs that attack what reruns them: their own folder, its links, their outputs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "harness/base/files.h"
#include "tests/scenarios/fault_world.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;

class HostileRuns : public testing::Test {
 protected:
  // A healthy bitwise run whose trainer now also runs `script` after it has done its work.
  DrillResult DrillThen(const std::string& script) {
    const fs::path manifest = world_.Record({});
    world_.Wrap("digits_portable", "$REAL \"$@\" || exit 1\n" + script);
    return world_.Drill({manifest});
  }
  static Verdict VerdictOf(const DrillResult& drilled) {
    EXPECT_EQ(drilled.report.runs.size(), 1U) << drilled.stderr_text;
    return drilled.report.runs.empty() ? Verdict::kInfra : drilled.report.runs[0].verdict;
  }

  FaultWorld world_;
};

TEST_F(HostileRuns, CannotPassWithACheckpointThatHoldsNothing) {
  const DrillResult drilled =
      DrillThen("printf '\\002\\0\\0\\0\\0\\0\\0\\0{}' > model.safetensors");
  EXPECT_EQ(VerdictOf(drilled), Verdict::kDrifted);
  EXPECT_EQ(drilled.exit_code, 1);
}

TEST_F(HostileRuns, CannotHaveFilesMovedThatLieElsewhere) {
  const fs::path outside = world_.folder() / "outside";
  const DrillResult drilled =
      DrillThen(fmt::format("mkdir -p '{0}'; cp model.safetensors metrics.json '{0}/'\n"
                            "here=$PWD; cd ..; mv \"$here\" old; ln -s '{0}' \"$here\"",
                            outside.string()));
  EXPECT_EQ(VerdictOf(drilled), Verdict::kFailed);
  EXPECT_TRUE(fs::exists(outside / "model.safetensors"));
}

TEST_F(HostileRuns, CannotSpoilThePlaceOfTheirEvidence) {
  const DrillResult drilled = DrillThen(
      "mkdir -p ../stdout.log/x ../evidence.json/x; ln -s /nowhere ../artifacts; echo hello");
  EXPECT_EQ(VerdictOf(drilled), Verdict::kIdentical) << drilled.stderr_text;
  EXPECT_EQ(world_.EvidenceOf("run-1").artifacts.size(), 1U);
}

TEST_F(HostileRuns, CannotEndTheDrillWithALinkToItself) {
  const DrillResult drilled = DrillThen("ln -s stdout.log ../stdout.log; echo hello");
  EXPECT_EQ(VerdictOf(drilled), Verdict::kIdentical) << drilled.stderr_text;
}

TEST_F(HostileRuns, LeaveNothingBehindInFoldersThatForbidIt) {
  const DrillResult drilled = DrillThen("mkdir -p locked/in; touch locked/in/f; chmod 000 locked");
  EXPECT_EQ(VerdictOf(drilled), Verdict::kIdentical) << drilled.stderr_text;
  EXPECT_FALSE(fs::exists(world_.drill_folder() / "runs/run-1/1/workspace"));
}

TEST_F(HostileRuns, CannotMoveTheFolderTheyWereGiven) {
  const DrillResult drilled = DrillThen(
      "here=$(cd .. && pwd); cd /; mv \"$here\" \"$here.old\"; ln -s \"$here.old\" \"$here\"");
  EXPECT_NE(VerdictOf(drilled), Verdict::kIdentical);
  EXPECT_NE(drilled.exit_code, 0);
}

}  // namespace
}  // namespace rharness
