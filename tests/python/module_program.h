// Programs that use the Python module, in a folder of their own.
#ifndef RHARNESS_TESTS_PYTHON_MODULE_PROGRAM_H_
#define RHARNESS_TESTS_PYTHON_MODULE_PROGRAM_H_

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "harness/records/manifest/run_metrics.h"
#include "tests/cli/hooked_program.h"

namespace rharness {

class PythonModule : public testing::Test {
 protected:
  PythonModule() : folder_(*ScopedTempDir::Make()), base_(fs::canonical(folder_.path())) {}
  void SetUp() override {
    python_ = PythonWith("sys");
    if (python_.empty()) GTEST_SKIP() << "python3 is not installed";
  }
  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories((base_ / name).parent_path());
    ASSERT_TRUE(WriteFileAtomic(base_ / name, text).ok());
  }
  // Variables with which a Python finds the module, and the module this build's program.
  std::map<std::string, std::string> Variables() const {
    return {{"PYTHONPATH", RHARNESS_SOURCE_DIR "/harness/python:" + base_.string()},
            {"RHARNESS_PROGRAM", RHARNESS_BIN_DIR "/rharness"},
            {"PYTHONDONTWRITEBYTECODE", "1"}};
  }
  ProcessResult Run(const std::string& program,
                    const std::map<std::string, std::string>& more = {}) const {
    Write("train.py", program);
    auto variables = Variables();
    for (const auto& [name, value] : more) variables[name] = value;
    return Execute({python_, "train.py"}, base_, variables);
  }
  // What the program reads of what the module wrote.
  RunMetrics Written(const std::string& name = "metrics.json") const {
    const auto json = ReadJsonFile(base_ / name);
    EXPECT_TRUE(json.ok()) << json.error().ToString();
    if (!json.ok()) return {};
    auto metrics = ParseRunMetrics(*json, name);
    EXPECT_TRUE(metrics.ok()) << metrics.error().ToString();
    return metrics.ok() ? std::move(*metrics) : RunMetrics();
  }

  const ScopedTempDir folder_;
  const fs::path base_;
  std::string python_;
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_PYTHON_MODULE_PROGRAM_H_
