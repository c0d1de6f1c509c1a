// rharness lint: a record against its log, its script and its image, with both places.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

using testing::HasSubstr;

class Lint : public DrillProgram {
 protected:
  void SetUp() override {
    Write("train.py", "import random\nrandom.seed(1)\nbatch_size = 64\n");
    Record("a", {"--hyper", "batch_size=64", "--hyper", "lr=0.1", "--code-file", "train.py"},
           {"sh", "train.sh", At("").string(), "--lr", "0.1"});
  }
  ProcessResult LintRun(std::vector<std::string> options = {}) const {
    std::vector<std::string> argv = {kRharness, "lint", "runs/a.json"};
    argv.insert(argv.end(), options.begin(), options.end());
    return Run(argv);
  }
};

TEST_F(Lint, FindsNothingWhereAllPlacesAgree) {
  Write("run.log", "config: batch_size=64 lr=0.1 seed=1\n");
  const ProcessResult result = LintRun({"--log", "run.log", "--script", "train.py"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("3 things were said in two places, 0 contradictions"));
}

TEST_F(Lint, NamesBothPlacesOfEachContradiction) {
  Write("run.log", "config: batch_size=32 lr=0.2 seed=7\n");
  const ProcessResult result = LintRun({"--log", "run.log"});
  EXPECT_EQ(result.outcome.exit_code, 1);
  EXPECT_THAT(result.stdout_text, HasSubstr("batch_size is 64 ($.hyperparameters.batch_size), but "
                                            "32 (run.log: line 1)"));
  EXPECT_THAT(result.stdout_text, HasSubstr("seed is 1 ($.seeds.init), but 7 (run.log: line 1)"));
  EXPECT_THAT(result.stdout_text, HasSubstr("3 contradictions"));
}

TEST_F(Lint, ReadsTheRecordedScriptOnlyAsItWasRecorded) {
  EXPECT_THAT(LintRun({"--json"}).stdout_text, HasSubstr("/train.py"));
  Write("train.py", "random.seed(9)\n");
  const ProcessResult changed = LintRun();
  EXPECT_EQ(changed.outcome.exit_code, 0) << changed.stdout_text;
  EXPECT_THAT(changed.stderr_text, HasSubstr("is not the recorded file any more"));
  EXPECT_THAT(LintRun({"--script", "train.py"}).stdout_text, HasSubstr("but 9 (train.py: line 1)"));
}

TEST_F(Lint, NotesAMarginThatLetsEverythingPass) {
  EXPECT_EQ(LintRun().stdout_text.find("note: "), std::string::npos);
  std::string text = Read(At("runs/a.json"));
  const std::string margin = "\"margin\": 0.01";
  const auto at = text.find(margin);
  ASSERT_NE(at, std::string::npos) << text;
  Write("runs/wide.json", text.replace(at, margin.size(), "\"margin\": 4"));
  const ProcessResult result = Run({kRharness, "lint", "runs/wide.json"});
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("runs/wide.json: note: $.metrics[0].margin: "
                                            "wide_margin: margin 4 of 'accuracy' lets every value "
                                            "pass"));
  EXPECT_THAT(Run({kRharness, "lint", "--json", "runs/wide.json"}).stdout_text,
              HasSubstr("\"wide_margin\""));
}

TEST_F(Lint, SaysWhenNothingWasChecked) {
  Write("bare.json", R"({"schema": "rharness.manifest/v1", "run_id": "x", "command": ["true"]})");
  const ProcessResult result = Run({kRharness, "lint", "bare.json"});
  EXPECT_EQ(result.outcome.exit_code, 3);
  EXPECT_THAT(result.stderr_text, HasSubstr("nothing was checked"));
  EXPECT_EQ(LintRun({"--log", "gone.log"}).outcome.exit_code, 2);
}

}  // namespace
}  // namespace rharness
