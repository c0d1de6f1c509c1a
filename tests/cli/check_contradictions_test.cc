// rharness check: a record against its log, its script and its image, with both places.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

using testing::HasSubstr;

class CheckContradictions : public DrillProgram {
 protected:
  void SetUp() override {
    Write("train.py", "import random\nrandom.seed(1)\nbatch_size = 64\n");
    Record("a", {"--hyper", "batch_size=64", "--hyper", "lr=0.1", "--code-file", "train.py"},
           {"sh", "train.sh", At("").string(), "--lr", "0.1"});
  }
  ProcessResult Check(std::vector<std::string> options = {}) const {
    std::vector<std::string> argv = {kRharness, "check", "runs/a.json"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  }
};

TEST_F(CheckContradictions, FindsNothingWhereAllPlacesAgree) {
  Write("run.log", "config: batch_size=64 lr=0.1 seed=1\n");
  const ProcessResult result = Check({"--log", "run.log", "--script", "train.py"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  EXPECT_EQ(result.stderr_text,
            "rharness: 1 of 1 manifests admitted; 3 statements cross-checked, 0 "
            "contradictions\n");
}

TEST_F(CheckContradictions, NamesBothPlacesOfEach) {
  Write("run.log", "config: batch_size=32 lr=0.2 seed=7\n");
  const ProcessResult result = Check({"--log", "run.log"});
  EXPECT_EQ(result.outcome.exit_code, 1);
  EXPECT_THAT(result.stdout_text,
              HasSubstr("runs/a.json: contradiction: batch_size is 64 "
                        "($.hyperparameters.batch_size), but 32 (run.log: line 1)\n"));
  EXPECT_THAT(result.stdout_text, HasSubstr("seed is 1 ($.seeds.init), but 7 (run.log: line 1)"));
  EXPECT_THAT(result.stderr_text, HasSubstr("3 contradictions"));
  const auto json = ParseJson(Check({"--json", "--log", "run.log"}).stdout_text, "stdout");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->Find("exit_code")->ToInt64(), 1);
  const Json& found = json->Find("contradictions")->Find("manifests")->AsArray().at(0);
  EXPECT_EQ(found.Find("file")->AsString(), "runs/a.json");
  EXPECT_EQ(found.Find("contradictions")->AsArray().size(), 3U);
}

TEST_F(CheckContradictions, OfARecordWithItsOwnCommandNeedNoLog) {
  Record("b", {"--hyper", "lr=0.1"}, {"sh", "train.sh", At("").string(), "--lr", "0.2"});
  const ProcessResult result = Run({kRharness, "check", "runs"});
  EXPECT_EQ(result.outcome.exit_code, 1) << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("runs/a.json: admitted\n"));
  EXPECT_THAT(result.stdout_text, HasSubstr("runs/b.json: contradiction: learning_rate is 0.1"));
}

TEST_F(CheckContradictions, AreLookedForInTheRecordedScriptOnlyAsItWasRecorded) {
  EXPECT_THAT(Check({"--json", "--root", "."}).stdout_text, HasSubstr("/train.py"));
  Write("train.py", "random.seed(9)\n");
  const ProcessResult changed = Check({"--root", "."});
  EXPECT_EQ(changed.outcome.exit_code, 0) << changed.stdout_text;
  EXPECT_THAT(changed.stderr_text, HasSubstr("is not the recorded file any more"));
  EXPECT_THAT(Check({"--script", "train.py"}).stdout_text, HasSubstr("but 9 (train.py: line 1)"));
}

TEST_F(CheckContradictions, OfALogWithNothingShowNothing) {
  Write("run.log", "hello\n");
  Write("bare.json", R"({"schema": "rharness.manifest/v1", "run_id": "x", "command": ["true"]})");
  const ProcessResult result = Run({kRharness, "check", "bare.json", "--log", "run.log"});
  EXPECT_EQ(result.outcome.exit_code, 2) << "an incomplete record is worse";
  EXPECT_THAT(result.stderr_text, HasSubstr("nothing was cross-checked"));
  EXPECT_EQ(Check({"--log", "gone.log"}).outcome.exit_code, 2);
}

TEST_F(CheckContradictions, OfALogAreThoseOfOneRun) {
  Record("b", {});
  Write("run.log", "seed=1\n");
  const ProcessResult result = Run({kRharness, "check", "runs", "--log", "run.log"});
  EXPECT_EQ(result.outcome.exit_code, 2);
  EXPECT_THAT(result.stderr_text, HasSubstr("speak of one run, and 2 manifests are named"));
}

}  // namespace
}  // namespace rharness
