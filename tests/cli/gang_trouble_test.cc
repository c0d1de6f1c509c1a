// Trouble of a run of several tasks: the cause is named, by rank, and what is nobody's fault is
// tried again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/records/manifest/evidence.h"
#include "tests/cli/gang_program.h"
#include "tests/cli/record_finds.h"

namespace rharness {
namespace {

using ::testing::HasSubstr;

class GangTrouble : public RecordFinds {
 protected:
  // `line`: what the program does, in reruns alone, before it draws.
  void RecordWith(const std::string& line) {
    Write("data.csv", "0.5");
    Write("train.py", GangProgram("if os.environ.get('HOME', '').endswith('workspace'):\n" + line));
    const ProcessResult recorded =
        Record({"--nodes", "2", "--tasks-per-node", "2", "--out", "runs/a.json", "--run-id", "a"});
    ASSERT_EQ(recorded.outcome.exit_code, 0) << recorded.stderr_text;
  }
  ProcessResult Drill(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> argv = {RHARNESS_BIN_DIR "/rharness", "drill", "runs", "--cpus", "4"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(std::move(argv));
  }
  std::string FirstFailure() const {
    const auto evidence = LoadEvidence(At("project/drill/runs/a/1/evidence.json"));
    if (!evidence.ok()) return evidence.error().ToString();
    const auto failed = std::ranges::find(evidence->remarks, kRankFailed, &Finding::code);
    return failed == evidence->remarks.end() ? "none" : failed->message;
  }
};

TEST_F(GangTrouble, ARankThatHangsIsNamedWithItsLastLine) {
  RecordWith(
      "    print('rank', rank, 'begins', flush=True)\n"
      "    if rank == 2: time.sleep(600)\n"
      "    time.sleep(1)\n"
      "    print('rank', rank, 'draws', flush=True)");
  const ProcessResult drilled = Drill({"--timeout-floor", "4s", "--timeout-factor", "1"});
  EXPECT_EQ(drilled.outcome.exit_code, 4) << drilled.stdout_text << drilled.stderr_text;
  const std::string why = FirstFailure();
  EXPECT_THAT(why, HasSubstr("the run timed out after"));
  // Rank 0 waits for the number of rank 2.
  EXPECT_THAT(why, HasSubstr("ranks 0, 2 of 4 still ran; rank 2 on"));
  EXPECT_THAT(why, HasSubstr("since \"rank 2 begins\"; rank 0 on"));
  EXPECT_THAT(why, HasSubstr("since \"rank 0 draws\""));
  EXPECT_THAT(drilled.stdout_text, HasSubstr("ranks 0, 2 of 4 still ran"));
}

TEST_F(GangTrouble, OfFourRanksThatFailOneAfterTheOtherTheFirstIsTheCause) {
  RecordWith(
      "    if rank == 3:\n"
      "        open('dying', 'w').close()\n"
      "        os.kill(os.getpid(), 11)\n"
      "    while not os.path.exists('dying'): time.sleep(0.001)\n"
      "    time.sleep(0.02 * (rank + 1))\n"
      "    sys.exit(10 + rank)");
  const ProcessResult drilled = Drill();
  EXPECT_EQ(drilled.outcome.exit_code, 4) << drilled.stdout_text << drilled.stderr_text;
  EXPECT_THAT(FirstFailure(), HasSubstr("rank 3 on "));
  EXPECT_THAT(FirstFailure(), HasSubstr("killed by SIGSEGV"));
}

TEST_F(GangTrouble, APortThatWasTakenMeanwhileIsNoFaultOfTheRunWhichIsTriedAgain) {
  RecordWith("    taken = '" + At("taken").string() + "'\n" +
             "    if rank == 0 and not os.path.exists(taken):\n"
             "        open(taken, 'w').close()\n"
             "        raise OSError(98, 'Address already in use', '%s:%d' % place)");
  const ProcessResult drilled = Drill({"-v"});
  EXPECT_EQ(drilled.outcome.exit_code, 0) << drilled.stdout_text << drilled.stderr_text;
  EXPECT_THAT(drilled.stdout_text, HasSubstr("identical"));
  EXPECT_TRUE(fs::exists(At("taken")));
}

TEST_F(GangTrouble, AHeterogeneousJobIsRefusedByName) {
  const ProcessResult recorded =
      Run({"env", "SLURM_HET_SIZE=2", RHARNESS_BIN_DIR "/rharness", "record", "--", "true"});
  EXPECT_EQ(recorded.outcome.exit_code, 2) << recorded.stderr_text;
  EXPECT_THAT(recorded.stderr_text, HasSubstr("a heterogeneous job of Slurm, of 2 components"));
}

}  // namespace
}  // namespace rharness
