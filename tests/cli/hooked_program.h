// A Python program that is recorded under the hooks, and drilled.
#ifndef RHARNESS_TESTS_CLI_HOOKED_PROGRAM_H_
#define RHARNESS_TESTS_CLI_HOOKED_PROGRAM_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/subprocess.h"
#include "harness/records/manifest/evidence.h"
#include "harness/records/manifest/manifest.h"

namespace rharness {

namespace fs = std::filesystem;

inline ProcessResult Execute(std::vector<std::string> argv, const fs::path& folder,
                             const std::map<std::string, std::string>& variables = {}) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.environment = PickEnvironment({"PATH", "HOME", "TMPDIR"});
  for (const auto& [name, value] : variables) spec.environment[name] = value;
  spec.working_directory = folder;
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(100);
  return RunProcess(spec, limits);
}

// The interpreter itself, and not what starts it; empty: none has these modules.
inline std::string PythonWith(const std::string& modules) {
  std::vector<std::string> candidates = {"python3", "/usr/bin/python3"};
  if (const char* named = std::getenv("RHARNESS_TEST_PYTHON")) candidates = {named};
  for (const std::string& python : candidates) {
    const ProcessResult result =
        Execute({python, "-c", "import sys, " + modules + "; print(sys.executable)"}, "/");
    if (!result.outcome.Succeeded()) continue;
    // One that somebody named may be a script that sets the scene.
    if (std::getenv("RHARNESS_TEST_PYTHON") != nullptr) return python;
    return result.stdout_text.substr(0, result.stdout_text.find('\n'));
  }
  return "";
}

// Writes the metrics that a drill compares.
inline constexpr char kTail[] =
    "\nimport json\n"
    "json.dump({'metrics': {'acc': random.random()}}, open('metrics.json', 'w'))\n";

class Lies : public testing::Test {
 protected:
  Lies() : folder_(*ScopedTempDir::Make()), base_(fs::canonical(folder_.path())) {
    fs::create_directory(base_ / "run");
  }
  void SetUp() override {
    python_ = PythonWith("random");
    if (python_.empty()) GTEST_SKIP() << "python3 is not installed";
  }
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((base_ / name).parent_path());
    ASSERT_TRUE(WriteFileAtomic(base_ / name, text).ok());
  }
  // rharness record OPTIONS -- PYTHON train.py, in run/, where `program` is train.py.
  ProcessResult Record(const std::string& program, std::vector<std::string> options,
                       const std::map<std::string, std::string>& variables = {}) {
    Write("run/train.py", program);
    std::vector<std::string> argv = {RHARNESS_BIN_DIR "/rharness",
                                     "record",
                                     "--overwrite",
                                     "--out",
                                     "../run.json",
                                     "--family",
                                     "lies",
                                     "--code-file",
                                     "train.py"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.insert(argv.end(), {"--", python_, "train.py"});
    return Execute(std::move(argv), base_ / "run", variables);
  }
  Manifest Recorded() const {
    auto manifest = LoadManifest(base_ / "run.json");
    EXPECT_TRUE(manifest.ok()) << manifest.error().ToString();
    return manifest.ok() ? std::move(*manifest) : Manifest();
  }
  // The notes of the record of a program, which hooks look at.
  std::vector<std::string> Notes(const std::string& program, std::vector<std::string> options,
                                 const std::map<std::string, std::string>& variables = {}) {
    options.push_back("--python-hooks");
    const ProcessResult result = Record(program, std::move(options), variables);
    EXPECT_EQ(result.outcome.exit_code, 0) << result.stderr_text;
    return Recorded().notes;
  }
  // Drills what was recorded; report.json as text.
  std::string Drill(const std::vector<std::string>& options = {}) {
    const std::string history = (base_ / "runs.db").string();
    std::error_code error;
    fs::remove(history, error);
    fs::remove_all(base_ / "drill", error);
    EXPECT_TRUE(Execute({RHARNESS_BIN_DIR "/rharness", "history", "add", "--history", history,
                         (base_ / "run.json").string()},
                        base_)
                    .outcome.Succeeded());
    std::vector<std::string> argv = {RHARNESS_BIN_DIR "/rharness",
                                     "drill",
                                     "--history",
                                     history,
                                     "--out",
                                     "drill",
                                     "--no-confirm",
                                     "--root",
                                     base_.string()};
    argv.insert(argv.end(), options.begin(), options.end());
    drill_ = Execute(argv, base_);
    const auto report = ReadFile(base_ / "drill/report.json");
    EXPECT_TRUE(report.ok()) << drill_.stderr_text;
    return report.ok() ? *report : "";
  }
  Evidence Seen() const {
    auto evidence = LoadEvidence(base_ / "drill/runs/run/1/evidence.json");
    EXPECT_TRUE(evidence.ok()) << evidence.error().ToString();
    return evidence.ok() ? std::move(*evidence) : Evidence();
  }

  const ScopedTempDir folder_;
  const fs::path base_;
  std::string python_;
  ProcessResult drill_;
};

inline const std::vector<std::string> kMetrics = {"--metrics", "metrics.json", "--metric",
                                                  "acc,direction=higher,margin=0.001,primary"};
inline std::vector<std::string> With(std::vector<std::string> options) {
  options.insert(options.end(), kMetrics.begin(), kMetrics.end());
  return options;
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_HOOKED_PROGRAM_H_
