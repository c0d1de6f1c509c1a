// `rharness compare` run as a user runs it, in a folder of its own.
//
// Role: the fixture of the tests of this verb.
#ifndef RHARNESS_TESTS_CLI_COMPARE_VERB_H_
#define RHARNESS_TESTS_CLI_COMPARE_VERB_H_

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/json.h"
#include "harness/base/subprocess.h"
#include "tests/cli/drill_program.h"
#include "tests/compare/weights/safetensors_file.h"

namespace rharness {

class CompareVerb : public testing::Test {
 protected:
  std::string At(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string Write(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(WriteFileAtomic(At(name), text).ok());
    return At(name);
  }
  std::string WriteWeights(const std::string& name, std::vector<float> values,
                           const std::string& metadata = "") const {
    return Write(name, FileOf({{"fc1.weight", "F32", "[2,2]", BytesOf(values)},
                               {"fc2.weight", "F32", "[2]", BytesOf<float>({1, 2})}},
                              metadata));
  }
  std::string WriteLoss(const std::string& name, double offset, int from = 10) const {
    std::string steps, values;
    for (int step = 1; step <= 20; ++step) {
      const double value = 10.0 / step + (step >= from ? offset : 0.0);
      steps += (step > 1 ? "," : "") + std::to_string(step);
      values += (step > 1 ? "," : "") + std::to_string(value);
    }
    return Write(name, "{\"curves\": {\"train loss\": {\"steps\": [" + steps + "], \"values\": [" +
                           values + "]}}}");
  }
  ProcessResult Compare(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {kRharness, "compare"});
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(100);
    return RunProcess(
        ProcessSpec{std::move(arguments), PickEnvironment({"PATH", "TMPDIR"}), folder_.path()},
        limits);
  }
  Json CompareJson(std::vector<std::string> arguments, int code) const {
    arguments.push_back("--json");
    const ProcessResult result = Compare(std::move(arguments));
    EXPECT_EQ(result.outcome.exit_code, code) << result.stderr_text;
    auto json = ParseJson(result.stdout_text, "stdout");
    EXPECT_TRUE(json.ok()) << json.error().ToString();
    return json.ok() ? std::move(*json) : Json();
  }

  ScopedTempDir folder_ = *ScopedTempDir::Make("rharness-compare-");
};

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_COMPARE_VERB_H_
