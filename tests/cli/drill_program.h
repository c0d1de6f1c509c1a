// The drill as a program, in a folder with tiny recorded runs whose trainer is a shell script.
#ifndef RHARNESS_TESTS_CLI_DRILL_PROGRAM_H_
#define RHARNESS_TESTS_CLI_DRILL_PROGRAM_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/evidence.h"
#include "reports/model.h"

namespace rharness {

inline constexpr char kRharness[] = RHARNESS_BIN_DIR "/rharness";

// $1: a folder. Each call adds a line to "calls" there. While "gate" is there, the first call to
// come ends well and those after it hang.
inline constexpr char kScript[] = R"sh(echo run >> "$1/calls"
if [ -e "$1/gate" ] && ! mkdir "$1/first" 2> /dev/null; then
  while :; do sleep 600; done
fi
printf '{"metrics": {"accuracy": %s}}' "$(cat value)" > metrics.json
)sh";

inline std::string Read(const std::filesystem::path& path) {
  const auto text = ReadFile(path);
  EXPECT_TRUE(text.ok()) << text.error().ToString();
  return text.ok() ? *text : std::string();
}

class DrillProgram : public testing::Test {
 protected:
  DrillProgram() : folder_(*ScopedTempDir::Make("rharness-drill-")) {
    Write("train.sh", kScript);
    Write("value", "0.75");
    environment_ = PickEnvironment({"PATH", "TMPDIR"});
    environment_["HOME"] = At("").string();
  }

  std::filesystem::path At(const std::string& name) const { return folder_.path() / name; }
  void Write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(WriteFileAtomic(At(name), text).ok());
  }
  ProcessResult Run(std::vector<std::string> argv) const {
    ProcessLimits limits;
    limits.timeout = std::chrono::minutes(3);  // eight drills at once on a busy machine
    return RunProcess(ProcessSpec{std::move(argv), environment_, folder_.path()}, limits);
  }

  // Records runs "a", "b", ... and stores them in runs.db.
  void RecordRuns(int count) {
    for (int i = 0; i < count; ++i) Record(std::string(1, static_cast<char>('a' + i)), {});
    Add();
  }
  void Record(const std::string& name, const std::vector<std::string>& options,
              const std::vector<std::string>& command = {}) {
    std::vector<std::string> argv = {kRharness,
                                     "--quiet",
                                     "record",
                                     "--out",
                                     "runs/" + name + ".json",
                                     "--root",
                                     ".",
                                     "--code-file",
                                     "train.sh",
                                     "--data",
                                     "value",
                                     "--metrics",
                                     "metrics.json",
                                     "--metric",
                                     "accuracy,direction=higher,margin=0.01,primary",
                                     "--seed",
                                     "init=1"};
    argv.insert(argv.end(), options.begin(), options.end());
    if (std::ranges::find(options, "--family") == options.end()) {
      argv.insert(argv.end(), {"--family", "tiny"});
    }
    argv.push_back("--");
    const std::vector<std::string> train = {"sh", "train.sh", At("").string()};
    argv.insert(argv.end(), command.empty() ? train.begin() : command.begin(),
                command.empty() ? train.end() : command.end());
    const ProcessResult result = Run(argv);
    ASSERT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
  }
  void Add() {
    const ProcessResult result =
        Run({kRharness, "--quiet", "history", "add", "--history", "runs.db", "runs"});
    ASSERT_TRUE(result.outcome.Succeeded()) << result.stderr_text;
    std::filesystem::remove(At("calls"));
  }

  std::vector<std::string> DrillArguments(const std::vector<std::string>& options = {}) const {
    std::vector<std::string> argv = {kRharness, "drill", "--history", "runs.db", "--out", "out"};
    argv.insert(argv.end(), options.begin(), options.end());
    return argv;
  }
  ProcessResult Drill(const std::vector<std::string>& options = {}) const {
    return Run(DrillArguments(options));
  }

  // How often the trainer was called since the recordings.
  std::ptrdiff_t Calls() const {
    const auto text = ReadFile(At("calls"));
    return text.ok() ? std::count(text->begin(), text->end(), '\n') : 0;
  }
  Evidence EvidenceOf(const std::string& run_id) const {
    auto evidence = LoadEvidence(At("out/runs/" + run_id + "/1/evidence.json"));
    EXPECT_TRUE(evidence.ok()) << evidence.error().ToString();
    return evidence.ok() ? std::move(*evidence) : Evidence();
  }
  Report StoredReport() const {
    const auto json = ReadJsonFile(At("out/report.json"));
    EXPECT_TRUE(json.ok()) << json.error().ToString();
    auto report = json.ok() ? ParseReport(*json, "report.json") : Result<Report>(json.error());
    return report.ok() ? std::move(*report) : Report();
  }

  ScopedTempDir folder_;
  std::map<std::string, std::string> environment_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_DRILL_PROGRAM_H_
