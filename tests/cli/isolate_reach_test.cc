// `rharness isolate` as a program where what changed cannot be set, and where a drill's folder is
// gone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/shared_file_program.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class IsolateReach : public SharedFileProgram {
 protected:
  ProcessResult Isolate(const std::string& run, const std::string& against,
                        const std::string& more = "--parallel=1") const {
    return Run({kRharness, "isolate", run, "--history", "runs.db", "--against", against, "--out",
                "why", more});
  }
};

// SHA-256 of "5" and of "6" by sha256sum.
constexpr char kFiveToSix[] = "ef2d127de37b… -> e7f6c011776e…";

TEST_F(IsolateReach, NamesAnUndeclaredFileThatTheDrillNamed) {
  RecordSeed("3");
  Add();
  SetKernel("6");
  ASSERT_EQ(DrillInto("tonight", "run-3"), 1);
  const std::string expected = "differs and cannot be set: input " + Kernel() + " " + kFiveToSix;
  const ProcessResult plan = Isolate("run-3", "tonight", "--dry-run");
  EXPECT_EQ(plan.outcome.exit_code, 3) << plan.stdout_text << plan.stderr_text;
  EXPECT_THAT(plan.stdout_text, Not(HasSubstr("0 reruns")));
  EXPECT_FALSE(fs::exists(At("why")));
  const ProcessResult result = Isolate("run-3", "tonight");
  EXPECT_EQ(result.outcome.exit_code, 3) << result.stdout_text << result.stderr_text;
  EXPECT_EQ(FieldOf("why/isolation.json", "headline"), expected);
  EXPECT_EQ(FieldOf("why/isolation.json", "end"), "undecided");
  EXPECT_EQ(FieldOf("why/isolation.json", "reruns"), "0");
  EXPECT_THAT(FieldOf("why/isolation.json", "axes"), HasSubstr("nothing declares it"));
  EXPECT_THAT(Read(At("why/isolation.html")), HasSubstr(Kernel()));
  const ProcessResult again = Run({kRharness, "isolate", "--resume", "--out", "why"});
  EXPECT_EQ(again.outcome.exit_code, 3) << again.stdout_text << again.stderr_text;
  // The drill's folder is gone: the history knows where it reran the run.
  const std::string drill = DrillId("tonight");
  fs::remove_all(At("tonight"));
  fs::remove_all(At("why"));
  const ProcessResult kept = Isolate("run-3", drill);
  EXPECT_EQ(kept.outcome.exit_code, 3) << kept.stdout_text << kept.stderr_text;
  EXPECT_EQ(FieldOf("why/isolation.json", "headline"), expected);
}

TEST_F(IsolateReach, FindsTheCauseOfADrillThatTheHistoryAloneKnows) {
  RecordSeed("3");
  Add();
  ASSERT_EQ(DrillInto("good", "run-3"), 0);
  ASSERT_EQ(DrillInto("tonight", "run-3", "1"), 1);
  const std::string good = DrillId("good"), bad = DrillId("tonight");
  for (const char* folder : {"good", "tonight"}) fs::remove_all(At(folder));
  const ProcessResult result = Isolate("run-3", bad);
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(FieldOf("why/isolation.json", "causes"), HasSubstr("env:SHIFT: (unset) -> 1"));
  fs::remove_all(At("why"));
  const ProcessResult nothing = Isolate("run-3", good);
  EXPECT_EQ(nothing.outcome.exit_code, 2) << nothing.stdout_text;
  EXPECT_THAT(nothing.stderr_text, HasSubstr("called run-3 identical"));
  const ProcessResult none = Isolate("run-3", "20260101T000000Z-00000000");
  EXPECT_EQ(none.outcome.exit_code, 2) << none.stdout_text;
}

TEST_F(IsolateReach, TakesNoSeedOfAnotherRunOfTheFamilyForACause) {
  RecordSeed("3");
  RecordSeed("4");
  SetKernel("6");
  RecordSeed("7");
  Add();
  const ProcessResult seeds = Isolate("run-3", "run-4");
  EXPECT_EQ(seeds.outcome.exit_code, 3) << seeds.stdout_text << seeds.stderr_text;
  EXPECT_THAT(FieldOf("why/isolation.json", "headline"),
              HasSubstr("nothing but seeds differs (argument:--seed 3 -> 4)"));
  fs::remove_all(At("why"));
  const ProcessResult kernel = Isolate("run-3", "runs/run-7.json");
  EXPECT_EQ(kernel.outcome.exit_code, 3) << kernel.stdout_text << kernel.stderr_text;
  EXPECT_THAT(FieldOf("why/isolation.json", "headline"),
              HasSubstr("cannot be set: input " + Kernel() + " " + kFiveToSix));
  EXPECT_EQ(FieldOf("why/isolation.json", "causes"), "[]");
}

}  // namespace
}  // namespace rharness
