// A PyTorch trainer whose properties hold, and each of its planted faults, through the whole drill.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/cli/drill_program.h"

namespace rharness {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr char kPython[] = "/usr/bin/python3";
constexpr char kScenario[] = RHARNESS_SOURCE_DIR "/scenarios/properties/";
using States = std::map<std::string, std::string>;

class TorchProperties : public DrillProgram {
 protected:
  void SetUp() override {
    const ProcessResult torch = Run({kPython, "-c", "import torch"});
    if (!torch.outcome.Succeeded()) GTEST_SKIP() << "no PyTorch in " << kPython;
    for (const char* file : {"train.py", "reshard.py", "claims.json"}) {
      fs::copy_file(std::string(kScenario) + file, At(file), fs::copy_options::overwrite_existing);
    }
    fs::copy_file(RHARNESS_SOURCE_DIR "/scenarios/data/digits.csv", At("digits.csv"));
  }

  void RecordTraining(const std::vector<std::string>& more = {}) {
    std::vector<std::string> argv = {kRharness,
                                     "--quiet",
                                     "record",
                                     "--out",
                                     "run.json",
                                     "--root",
                                     ".",
                                     "--data",
                                     "digits.csv",
                                     "--metrics",
                                     "metrics.json",
                                     "--weights",
                                     "state.pt",
                                     "--weights",
                                     "model.pt",  // which other legs are given, too
                                     "--seed",
                                     "all=1",
                                     "--metric",
                                     "test_loss,direction=lower",
                                     "--code-file",
                                     "train.py",
                                     "--code-file",
                                     "reshard.py",
                                     "--no-observe",
                                     "--metric",
                                     "accuracy,direction=higher,margin=0.01,primary",
                                     "--",
                                     kPython,
                                     "train.py",
                                     "--data",
                                     "digits.csv"};
    argv.insert(argv.end(), more.begin(), more.end());
    const ProcessResult recorded = Run(argv);
    ASSERT_TRUE(recorded.outcome.Succeeded()) << recorded.stderr_text;
  }

  ProcessResult Properties(const std::string& declared) {
    return Run({kRharness, "properties", "run.json", "--declare", declared, "--out", "held"});
  }

  States Told(std::map<std::string, std::string>* headlines = nullptr) const {
    States states;
    const auto kept = ReadJsonFile(At("held/properties.json"));
    EXPECT_TRUE(kept.ok()) << kept.error().ToString();
    if (!kept.ok()) return states;
    for (const Json& result : kept->Find("results")->AsArray()) {
      const std::string name = result.Find("name")->AsString();
      states[name] = result.Find("state")->AsString();
      if (headlines != nullptr) (*headlines)[name] = result.Find("headline")->AsString();
    }
    return states;
  }
};

TEST_F(TorchProperties, HoldInTheRightProgram) {
  RecordTraining();
  const ProcessResult result = Properties("claims.json");
  EXPECT_EQ(result.outcome.exit_code, 0) << result.stdout_text << result.stderr_text;
  const States told = Told();
  // Sums in another order are other bits.
  EXPECT_EQ(told, (States{{"repeated", "held"},
                          {"resumed@4", "held"},
                          {"resumed@7", "held"},
                          {"resumed@9", "held"},
                          {"loader_workers", "held"},
                          {"accumulated", "held_within"},
                          {"processes", "held_within"},
                          {"resharded", "held"},
                          {"evaluated_twice", "held"}}));
}

constexpr char kFaults[] = R"({"properties": [
  {"name": "repeated"},
  {"name": "resumed", "label": "optimizer", "at": [4], "stop": ["--stop-after={step}"],
   "resume": ["--resume", "{checkpoint}", "--forget=optimizer"], "checkpoint": "state.pt"},
  {"name": "resumed", "label": "rng", "at": [4], "stop": ["--stop-after={step}"],
   "resume": ["--resume", "{checkpoint}", "--forget=rng"], "checkpoint": "state.pt"},
  {"name": "resumed", "label": "loader", "at": [4], "stop": ["--stop-after={step}"],
   "resume": ["--resume", "{checkpoint}", "--forget=loader"], "checkpoint": "state.pt"},
  {"name": "loader_workers", "arguments": ["--workers=2", "--fault=drop-last"]},
  {"name": "accumulated", "arguments": ["--accumulate=4", "--fault=accumulate-sum"],
   "within": {"metrics": {"loss": 1e-5, "test_loss": 1e-5}, "tensors": 1e-4}},
  {"name": "processes", "arguments": ["--processes=2", "--fault=rank-data"],
   "within": {"metrics": {"loss": 1e-5, "test_loss": 1e-5}, "tensors": 1e-4}},
  {"name": "resharded", "checkpoint": "model.pt", "steps": [
    {"command": ["/usr/bin/python3", "reshard.py", "split", "{checkpoint}", "shards"],
     "saved": "shards"},
    {"command": ["/usr/bin/python3", "reshard.py", "join", "{checkpoint}", "joined.pt",
                 "--through-bf16"], "saved": "joined.pt"}]},
  {"name": "evaluated_twice", "checkpoint": "model.pt",
   "command": ["/usr/bin/python3", "train.py", "--data", "digits.csv", "--evaluate",
               "{checkpoint}", "--fault=dropout-on"], "again": ["--seed=2"]}]})";

TEST_F(TorchProperties, AreLostWithThePlantedFaultOfEach) {
  RecordTraining();
  Write("faults.json", kFaults);
  const ProcessResult result = Properties("faults.json");
  EXPECT_EQ(result.outcome.exit_code, 1) << result.stdout_text << result.stderr_text;
  std::map<std::string, std::string> headlines;
  for (const auto& [name, state] : Told(&headlines)) {
    EXPECT_EQ(state, name == "repeated" ? "held" : "lost") << name << ": " << headlines[name];
  }
  ASSERT_EQ(headlines.size(), 9U);
  EXPECT_THAT(headlines["resumed:optimizer@4"], HasSubstr("optimizer"));
  EXPECT_THAT(headlines["resharded"], HasSubstr("4 of 4 tensors differ"));
  EXPECT_THAT(headlines["evaluated_twice"], HasSubstr("metric "));
}

TEST_F(TorchProperties, AreLostWhereWorkersDrawFromTheirOwnSeeds) {
  RecordTraining({"--fault", "worker-seeds"});
  Write("one.json", R"({"properties": [{"name": "loader_workers", "arguments": ["--workers=2"]},
                                       {"name": "repeated"}]})");
  const ProcessResult result = Properties("one.json");
  EXPECT_EQ(Told(), (States{{"loader_workers", "lost"}, {"repeated", "held"}}))
      << result.stdout_text << result.stderr_text;
}

TEST_F(TorchProperties, AreToldFirstOfARunThatDoesNotRepeatItself) {
  RecordTraining({"--fault", "unseeded"});
  Write("one.json", R"({"properties": [{"name": "loader_workers", "arguments": ["--workers=2"]},
                                       {"name": "repeated"}]})");
  const ProcessResult result = Properties("one.json");
  EXPECT_EQ(Told(), (States{{"loader_workers", "not_judged"}, {"repeated", "lost"}}))
      << result.stdout_text << result.stderr_text;
  EXPECT_THAT(result.stdout_text, HasSubstr("straight runs differ with nothing changed"));
}

}  // namespace
}  // namespace rharness
