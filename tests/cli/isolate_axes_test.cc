// `rharness isolate` as a program: its plan, axes that are none, many axes, a scenario's own cause.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/isolate_program.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(IsolateProgram, ThePlanSaysWhatItCostsAndTouchesNothing) {
  RecordAs("then", {});
  RecordAs("now", {{"A", "1"}, {"B", "1"}, {"BAD", "1"}, {"C", "1"}});
  const ProcessResult result = Against({"--dry-run"});
  EXPECT_EQ(ExitOf(result), 0) << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("one change is the cause: 5 to 6 reruns"));
  EXPECT_THAT(result.stdout_text, HasSubstr("two are needed together: up to"));
  EXPECT_FALSE(fs::exists(At("why")));
  EXPECT_EQ(Calls(), 0);
}

TEST_F(IsolateProgram, RefusesAxesThatAreNone) {
  RecordAs("then", {{"A", "1"}});
  const auto refused = [&](const std::vector<std::string>& axes) {
    std::vector<std::string> options = {"runs/then.json", "--out", "why"};
    for (const std::string& axis : axes) {
      if (!axis.starts_with("--")) options.push_back("--axis");
      options.push_back(axis);
    }
    const ProcessResult result = IsolateRun(options);
    EXPECT_EQ(ExitOf(result), 2) << axes.front() << result.stdout_text;
    EXPECT_FALSE(fs::exists(At("why"))) << axes.front();
    return result.stderr_text;
  };
  EXPECT_THAT(refused({"weather:sunny"}), HasSubstr("expected one of argument:, commit:"));
  EXPECT_THAT(refused({"env:A B=1"}), HasSubstr("no name of a variable"));
  EXPECT_THAT(refused({"env:A\nB=1"}), HasSubstr("line break"));
  EXPECT_THAT(refused({"env:=1"}), HasSubstr("expected a name"));
  EXPECT_THAT(refused({"env:A=1"}), HasSubstr("is what was recorded"));
  EXPECT_THAT(refused({"env:A=2", "env:A=3"}), HasSubstr("another value before"));
  EXPECT_THAT(refused({"data:nothing=" + std::string(64, 'a')}), HasSubstr("it has: value"));
  EXPECT_THAT(refused({"data:value=abc"}), HasSubstr("expected SHA256"));
  EXPECT_THAT(refused({"hyperparameter:lr=0.1"}), HasSubstr("the command has no options"));
  EXPECT_THAT(refused({"commit:HEAD"}), HasSubstr("the record has no commit"));
  EXPECT_THAT(refused({"cpus:-1"}), HasSubstr("1 to 100000"));
  EXPECT_THAT(refused({"image:ml/train:latest"}), HasSubstr("not pinned"));
  EXPECT_THAT(refused({"node:-w"}), HasSubstr("name of a node"));
  EXPECT_THAT(refused({"node:n1"}), HasSubstr("goes with --dispatch slurm"));
  EXPECT_THAT(refused({"env:B=1", "env:A=2", "--env=A=3"}), HasSubstr("is set for every rerun"));
  EXPECT_EQ(ExitOf(IsolateRun({"runs/then.json", "--out", "why"})), 2);
  EXPECT_EQ(ExitOf(IsolateRun({"--resume", "--out", "nowhere"})), 2);
}

TEST_F(IsolateProgram, TenThousandAxesArePlannedInSeconds) {
  RecordAs("then", {});
  std::string manifest = Read(At("runs/then.json"));
  std::string variables;
  for (int i = 0; i < 10000; ++i) variables += "\"V" + std::to_string(i) + "\": \"1\", ";
  const std::string key = "\"variables\": {";
  const auto at = manifest.find(key);
  ASSERT_NE(at, std::string::npos);
  manifest.insert(at + key.size(), variables);
  const auto value = manifest.find("\"value\": 0.");
  ASSERT_NE(value, std::string::npos);
  Write("runs/now.json", manifest.insert(value + std::string("\"value\": 0.").size(), "1"));
  const ProcessResult result = Against({"--dry-run"});
  EXPECT_EQ(ExitOf(result), 0) << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("10,000 changes among which"));
  EXPECT_THAT(result.stdout_text, HasSubstr("to 18 reruns"));
}

TEST_F(IsolateProgram, NamesAKernelOfTheBlasThatAScenarioRunsWith) {
  const std::string program = RHARNESS_BIN_DIR "/digits_blas";
  const std::string data = RHARNESS_SOURCE_DIR "/scenarios/data/digits.csv";
  if (!fs::exists(program)) GTEST_SKIP() << "digits_blas was not built";
  fs::copy_file(data, At("digits.csv"));
  const auto record = [&](const std::string& name, const Variables& variables) {
    const auto before = environment_;
    for (const auto& [variable, value] : variables) environment_[variable] = value;
    const ProcessResult result = Run({kRharness,
                                      "--quiet",
                                      "record",
                                      "--out",
                                      name,
                                      "--run-id",
                                      "blas",
                                      "--family",
                                      "blas",
                                      "--root",
                                      ".",
                                      "--no-observe",
                                      "--data",
                                      "digits.csv",
                                      "--weights",
                                      "model.safetensors",
                                      "--metrics",
                                      "metrics.json",
                                      "--metric",
                                      "test_accuracy,direction=higher,margin=0.03,primary",
                                      "--seed",
                                      "init=1",
                                      "--determinism",
                                      "bitwise",
                                      "--scope",
                                      "architecture",
                                      "--",
                                      program,
                                      "--data",
                                      "digits.csv",
                                      "--seed",
                                      "1"});
    environment_ = before;
    EXPECT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
    return result.stdout_text + result.stderr_text;
  };
  record("then.json", {{"OPENBLAS_CORETYPE", "Prescott"}});
  const std::string said = record("now.json", {{"OPENBLAS_CORETYPE", "Nehalem"},
                                               {"OMP_NUM_THREADS", "2"},
                                               {"MKL_NUM_THREADS", "2"},
                                               {"OPENBLAS_VERBOSE", "0"}});
  const auto then = ReadFile(At("then.json"));
  if (said.find("blas_core Nehalem") == std::string::npos ||
      then->find("Prescott") == std::string::npos) {
    GTEST_SKIP() << "this OpenBLAS has one kernel: " << said;
  }
  const ProcessResult result = IsolateRun({"then.json", "--against", "now.json", "--out", "why"});
  ASSERT_EQ(ExitOf(result), 0) << result.stdout_text << result.stderr_text;
  EXPECT_THAT(Cause(), ElementsAre("env:OPENBLAS_CORETYPE: Prescott -> Nehalem"));
  EXPECT_THAT(Text("difference"), HasSubstr("tensors of weights model.safetensors differ"));
  EXPECT_LE(Found().Find("trials")->AsArray().size(), 2U + 4U);
}

}  // namespace
}  // namespace rharness
